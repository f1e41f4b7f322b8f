"""Where graphs come from: relay topologies, message logs, simulators, rings, tables."""

from anonymatch.sources.candidates import Candidates
from anonymatch.sources.detect import (
    PARTS,
    first_look,
    has_rounds,
    holds_relays,
    holds_rings,
    mean_delay,
    open_observation,
)
from anonymatch.sources.formats import SOURCES
from anonymatch.sources.formats.message_files import read_messages, write_messages
from anonymatch.sources.formats.mixmatch import read_flow_pairs
from anonymatch.sources.formats.network_files import read_network
from anonymatch.sources.formats.relay_files import read_relays
from anonymatch.sources.formats.relays import path_counts, relay_graph, relay_weights
from anonymatch.sources.formats.released import read_released
from anonymatch.sources.formats.released_cells import CellValues, wider
from anonymatch.sources.formats.released_cells import fits as cells_fit
from anonymatch.sources.formats.released_look import (
    TableLook,
    TablesLook,
    look_at_tables,
    released_first,
)
from anonymatch.sources.formats.rings import read_rings
from anonymatch.sources.formats.round_files import read_rounds, write_rounds
from anonymatch.sources.formats.simulators import read_mixim, read_nym
from anonymatch.sources.formats.text_tables import find_column, read_text_table, shown_separator
from anonymatch.sources.graph_files import read
from anonymatch.sources.laws import (
    LAWS,
    Binomial,
    Cottrell,
    DelayLaw,
    Erlang,
    Exponential,
    FlushLaw,
    Free,
    Hops,
    Law,
    LawGuess,
    Linked,
    LogNormal,
    Measured,
    PassageWork,
    Pool,
    Threshold,
    Timed,
    TimedPool,
    Window,
    delay_log_density,
    guess_law,
    law_name,
    law_text,
    law_usage,
    parse_law,
    register,
    wide_links,
)
from anonymatch.sources.log_graph import exponential_graph, passage_graph
from anonymatch.sources.log_problem import on_clock_of
from anonymatch.sources.messages import Messages
from anonymatch.sources.network_graphs import MixGraph, mix_graphs
from anonymatch.sources.observation import (
    FLOWS,
    MESSAGES,
    PEOPLE,
    RINGS,
    USERS,
    Conditions,
    Network,
    Nouns,
    Observation,
    Passage,
)
from anonymatch.sources.observing import observe
from anonymatch.sources.preview import FirstLook, guess_log_law, log_mean_delay
from anonymatch.sources.reading import ReadOptions, help_text
from anonymatch.sources.release import (
    ColumnCells,
    Release,
    kinds_of_people,
    link_bytes,
    link_seconds,
)
from anonymatch.sources.ring_set import AGE_LAWS, RingSet
from anonymatch.sources.round_log import RoundLog
from anonymatch.sources.synthetic import synthesize
from anonymatch.sources.synthetic_networks import synthesize_network, write_network
from anonymatch.sources.synthetic_rounds import synthesize_rounds
from anonymatch.sources.timed_rounds import rounds_of_messages

__all__ = [
    "AGE_LAWS",
    "FLOWS",
    "LAWS",
    "MESSAGES",
    "PARTS",
    "PEOPLE",
    "RINGS",
    "SOURCES",
    "USERS",
    "Binomial",
    "Candidates",
    "CellValues",
    "ColumnCells",
    "Conditions",
    "Cottrell",
    "DelayLaw",
    "Erlang",
    "Exponential",
    "FirstLook",
    "FlushLaw",
    "Free",
    "Hops",
    "Law",
    "LawGuess",
    "Linked",
    "LogNormal",
    "Measured",
    "Messages",
    "MixGraph",
    "Network",
    "Nouns",
    "Observation",
    "Passage",
    "PassageWork",
    "Pool",
    "ReadOptions",
    "Release",
    "RingSet",
    "RoundLog",
    "TableLook",
    "TablesLook",
    "Threshold",
    "Timed",
    "TimedPool",
    "Window",
    "cells_fit",
    "delay_log_density",
    "exponential_graph",
    "find_column",
    "first_look",
    "guess_law",
    "guess_log_law",
    "has_rounds",
    "help_text",
    "holds_relays",
    "holds_rings",
    "kinds_of_people",
    "law_name",
    "law_text",
    "law_usage",
    "link_bytes",
    "link_seconds",
    "log_mean_delay",
    "look_at_tables",
    "mean_delay",
    "mix_graphs",
    "observe",
    "on_clock_of",
    "open_observation",
    "parse_law",
    "passage_graph",
    "path_counts",
    "read",
    "read_flow_pairs",
    "read_messages",
    "read_mixim",
    "read_network",
    "read_nym",
    "read_relays",
    "read_released",
    "read_rings",
    "read_rounds",
    "read_text_table",
    "register",
    "relay_graph",
    "relay_weights",
    "released_first",
    "rounds_of_messages",
    "shown_separator",
    "synthesize",
    "synthesize_network",
    "synthesize_rounds",
    "wide_links",
    "wider",
    "write_messages",
    "write_network",
    "write_rounds",
]
