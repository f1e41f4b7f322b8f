"""Where graphs come from: relay topologies, message logs, simulators, rings, tables."""

from anonymatch.sources.door import SOURCES, open_observation
from anonymatch.sources.laws import (
    Binomial,
    Cottrell,
    Erlang,
    Exponential,
    Free,
    Law,
    Pool,
    Threshold,
    Timed,
    TimedPool,
    Window,
    parse_law,
)
from anonymatch.sources.message_files import read_messages, write_messages
from anonymatch.sources.messages import Messages
from anonymatch.sources.mixmatch import read_flow_pairs
from anonymatch.sources.observation import Observation, Passage
from anonymatch.sources.relay_files import read_relays
from anonymatch.sources.released import read_released
from anonymatch.sources.rings import read_rings
from anonymatch.sources.simulators import read_mixim, read_nym
from anonymatch.sources.synthetic import synthesize
from anonymatch.sources.timing import exponential_graph, observe, passage_graph

__all__ = [
    "SOURCES",
    "Binomial",
    "Cottrell",
    "Erlang",
    "Exponential",
    "Free",
    "Law",
    "Messages",
    "Observation",
    "Passage",
    "Pool",
    "Threshold",
    "Timed",
    "TimedPool",
    "Window",
    "exponential_graph",
    "observe",
    "open_observation",
    "parse_law",
    "passage_graph",
    "read_flow_pairs",
    "read_messages",
    "read_mixim",
    "read_nym",
    "read_relays",
    "read_released",
    "read_rings",
    "synthesize",
    "write_messages",
]
