"""Flow pairs as MixMatch records them: which initiator talked to which responder.

A folder holds a folder a pair, with ``flowpair.json``: {"initiator": side, "responder": side}, each
side {"nym_identity": name, "to_gateway": packets, "from_gateway": packets}, each packet [time in
nanoseconds, bytes] [1]_. Packets of 53 bytes are acknowledgements and say nothing here.

The attacker sees all flows and not the pairs. An initiator and a responder may belong together if,
taken together, they could have exchanged their packets with each other and with themselves alone:
nothing is received before it was sent, and nothing arrives later than a longest delay, except what
never arrived. At every time t, with S and R what both together have sent and received until then,

    R(t) <= S(t)   and   R(t) >= S(t - longest delay) - (all sent - all received).

Loops of cover traffic pass, because a side may send to itself. Both are looked at a hundred times a
longest delay, so that an edge may stand that a finer clock would rule out, and none falls that it
would keep. ``start`` and ``end`` of the file are not used: they would give the pairs away.

Recordings that were made one after the other tell who is whose by the clock alone. To ask what the
mix hides, they can be shifted to begin together (``align="start"``): both sides of a pair alike.

References
----------
.. [1] Oldenburg, Juarez, Argones Rua, Diaz. MixMatch: flow matching for mixnet traffic. Proceedings
   on Privacy Enhancing Technologies, 2024.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anonymatch.base.arguments import real, whole
from anonymatch.base.arrays import Ints
from anonymatch.base.atomic_files import as_path
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, Message, did_you_mean, quoted, several
from anonymatch.graph import Graph, Names, canonical
from anonymatch.mixes.formats.source_format import SourceFormat
from anonymatch.mixes.laws import Law, check_law
from anonymatch.mixes.logs.observation import FLOWS, MessageObservation
from anonymatch.tabular import Source, about, as_object, check_memory, load_json, reading

if TYPE_CHECKING:
    from anonymatch.mixes.options import ReadOptions
    from anonymatch.running import Budget

FLOW_PAIR = "flowpair.json"

LONGEST_DELAY = 2.0
"""Seconds; three mixes of 50 ms on average hold a packet longer once in 10^14."""

ALIGN = ("start",)
"""How recordings can be shifted in time."""

_ACKNOWLEDGEMENT = 53
_LOOKS = 100  # a longest delay
_STRIDES = (128, 16, 1)  # few looks first rule out most pairs
_TOGETHER = 64  # initiators on one clock, if they begin within so many longest delays
_NANO = 1e-9
_LATEST = 1 << 62  # room for sums in 64 bits
_MOST_TICKS = 10_000_000
_BYTES_A_TICK = 12  # two conditions, and what is needed to make those of one flow

Counts = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class _Flow:
    """One side's data packets in ticks of the clock: how the two conditions stand at each tick."""

    name: str
    begin: int
    end: int
    held: Counts  # sent and not received, at each tick from ``begin``; 0 before
    spare: Counts  # received, less what was sent a longest delay ago, plus what never arrives
    missing: int  # sent and never received
    sent: Ints
    received: Ints


def read_flow_pairs(
    folder: str | os.PathLike[str],
    *,
    law: Law | str | None = None,
    longest_delay: float | None = None,
    strays: int = 0,
    align: str | None = None,
) -> MessageObservation:
    """The graph of initiators (users) and responders (behaviours), and who is whose.

    Parameters
    ----------
    folder : path
        Of folders with a ``flowpair.json`` each.
    law : Law or str, optional
        Instead of the longest delay: what one packet in 10^9 exceeds, if delays have no end.
    longest_delay : float, optional
        Seconds from one side to the other; default 2.
    strays : int
        Packets that a pair may receive though neither sent them within its record, such as cover
        traffic from before it began.
    align : {"start"}, optional
        Shift each recording so that all of them begin together.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> def side(name, sent, received):
    ...     return {
    ...         "nym_identity": name,
    ...         "to_gateway": [[t * 10**6, 2413] for t in sent],
    ...         "from_gateway": [[t * 10**6, 1675] for t in received],
    ...     }
    >>> pairs = {
    ...     "1": {"initiator": side("ann", [0], [700]), "responder": side("x", [500], [100])},
    ...     "2": {"initiator": side("bob", [50], [900]), "responder": side("y", [600], [200])},
    ...     "3": {"initiator": side("cem", [4e3], [6e3]), "responder": side("z", [5e3], [4.5e3])},
    ... }
    >>> with tempfile.TemporaryDirectory() as place:
    ...     for name, pair in pairs.items():
    ...         pathlib.Path(place, name).mkdir()
    ...         text = json.dumps(pair).replace(".0", "")
    ...         _ = pathlib.Path(place, name, "flowpair.json").write_text(text)
    ...     read_flow_pairs(place).graph.to_edges()
    [('ann', 'x'), ('ann', 'y'), ('bob', 'x'), ('bob', 'y'), ('cem', 'z')]
    """
    seconds = _longest_delay(law, longest_delay)
    _check_align(align)
    spare = whole(strays, "strays")
    path = as_path(folder)
    files = list(flow_pair_files(path))
    if not files:
        raise InputError(f"no folder in it has a {FLOW_PAIR}").about(path)
    pairs = [_read(file) for file in files]
    whole_pairs = [pair for pair in pairs if all(len(side.times) for side in pair)]
    if not whole_pairs:
        raise InputError("every flow pair has a side without data packets").about(path)
    tick = max(int(seconds / _NANO) // _LOOKS, 1)
    begins = [min(int(side.times.min()) for side in pair) for pair in whole_pairs]
    origins = [min(begins)] * len(begins) if align is None else begins
    size = sum(file.stat().st_size for file in files)
    with about(path):
        _check_ticks([side for pair in whole_pairs for side in pair], tick, size)
        initiators, responders = (
            [_flow(pair[end], at, tick) for pair, at in zip(whole_pairs, origins, strict=True)]
            for end in (0, 1)
        )
        graph = _graph(initiators, responders, spare, size)
    truth = np.arange(len(whole_pairs))
    ruled_out = len(truth) - int(np.count_nonzero(graph.rows() == graph.indices))
    return MessageObservation(
        graph=graph,
        source=f"{several(len(truth), 'flow pair')}, longest delay {seconds:g} s",
        nouns=FLOWS,
        truth=truth,
        mean_delay=_mean_delay(initiators, responders),
        longest_delay=seconds,
        notes=(
            *_notes(len(pairs) - len(whole_pairs), ruled_out, len(truth)),
            *_time_notes(initiators, responders, align),
        ),
    )


def flow_pair_files(folder: Path) -> Iterator[Path]:
    """The flow pairs in the folders of a folder, by name; its own comes first."""
    if (folder / FLOW_PAIR).is_file():
        yield folder / FLOW_PAIR
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise InputError(f"cannot list it ({error.strerror}); check the path").about(
            folder
        ) from None
    for entry in entries:
        if os.path.isfile(entry / FLOW_PAIR):  # unlike a Path, it does not fail on loops of links
            yield entry / FLOW_PAIR


def _longest_delay(law: Law | str | None, given: float | None) -> float:
    """Seconds, as they are given or as the law says."""
    if law is not None:
        if given is not None:
            raise InputError(
                "flow pairs have one longest delay; leave ",
                Argument("law"),
                " or ",
                Argument("longest_delay"),
                " out",
            )
        given = _of_law(check_law(law))
    seconds = LONGEST_DELAY if given is None else real(given, "longest_delay")
    if not _LOOKS * _NANO <= seconds <= 1e6:
        raise InputError(
            Argument("longest_delay"), f" must be from 1e-07 to 1e+06 seconds, not {seconds:g}"
        )
    return seconds


def _of_law(law: Law) -> float:
    """The longest delay under a law; of one without an end, what hardly a packet exceeds."""
    longest = law.packet_delay()
    if longest is None:
        raise InputError(
            f"flow pairs have one longest delay, which the {law} does not say; give ",
            Argument("law", "window:0,SECONDS"),
            " or ",
            Argument("longest_delay", ...),
        )
    return longest


def _check_align(align: str | None) -> None:
    if align is not None and align not in ALIGN:
        raise InputError(
            Argument("align"),
            f" must be {' or '.join(map(repr, ALIGN))}, not {quoted(align)}"
            f"{did_you_mean(align, ALIGN)}",
        )


# ---- files


@dataclass(frozen=True, slots=True, eq=False)
class _FlowSide:
    """The times of one side's data packets, in nanoseconds, sorted."""

    name: str
    sent: Ints
    received: Ints

    @property
    def times(self) -> Ints:
        return np.concatenate((self.sent, self.received))


def _read(file: Path) -> tuple[_FlowSide, _FlowSide]:
    with reading(file):
        document = as_object(load_json(Source.of(file)), "a flow pair")
        return _side(document, "initiator", file), _side(document, "responder", file)


def _side(document: dict[str, Any], role: str, file: Path) -> _FlowSide:
    side = document.get(role)
    if not isinstance(side, dict):
        raise InputError(f'"{role}" must be an object with "to_gateway" and "from_gateway"')
    name = side.get("nym_identity")
    if not isinstance(name, str) or not name:
        name = f"{role} of {file.parent.name}"
    sent, received = (
        _packets(side, role, direction) for direction in ("to_gateway", "from_gateway")
    )
    return _FlowSide(name, sent, received)


def _packets(side: dict[str, Any], role: str, direction: str) -> Ints:
    """When data packets passed; acknowledgements are left out."""
    given = side.get(direction)
    wrong = (
        f'"{direction}" of the {role} must be a list of [nanoseconds, bytes], whole, from 0 to 2^62'
    )
    if not isinstance(given, list):
        raise InputError(wrong)
    if not given:
        return np.empty(0, dtype=np.int64)
    try:
        packets = np.array(given)
    except (ValueError, OverflowError):  # lists of several lengths
        raise InputError(wrong) from None
    if packets.dtype != np.int64 or packets.ndim != 2 or packets.shape[1] != 2:
        raise InputError(wrong)
    if packets.min() < 0 or packets.max() > _LATEST:
        raise InputError(wrong)
    return np.sort(packets[packets[:, 1] != _ACKNOWLEDGEMENT, 0])


# ---- the two conditions


def _check_ticks(sides: Sequence[_FlowSide], tick: int, size: int) -> None:
    """Refuse flows that are few packets over a long time: each tick of theirs takes memory."""
    ticks = 0
    for side in sides:
        lasts = int(np.ptp(side.times)) // tick + 1
        if lasts > _MOST_TICKS:
            raise InputError(
                f"the flow of {quoted(side.name)} lasts {lasts * tick * _NANO:.3g} s, over "
                f"{_MOST_TICKS // _LOOKS} longest delays; check its times, or allow a longer "
                "delay (",
                Argument("longest_delay", ...),
                ")",
            )
        ticks += lasts + _LOOKS
    check_memory(
        _BYTES_A_TICK * ticks,
        f"{several(ticks, 'tick')} of {several(len(sides), 'flow')}",
        "allow a longer delay, or fewer flows",
        packed=size,
    )


def _flow(side: _FlowSide, origin: int, tick: int) -> _Flow:
    sent, received = side.sent - origin, side.received - origin
    begin = int(min(times[0] for times in (sent, received) if len(times))) // tick
    last = int(max(times[-1] for times in (sent, received) if len(times))) // tick + 1
    ticks = np.arange(begin, last + _LOOKS + 1) * tick
    sent_now, received_now = (
        np.searchsorted(times, ticks, side="right") for times in (sent, received)
    )
    sent_before = np.searchsorted(sent, ticks - _LOOKS * tick, side="right")
    missing = len(sent) - len(received)
    return _Flow(
        name=side.name,
        begin=begin,
        end=begin + len(ticks),
        held=(sent_now - received_now).astype(np.int32),
        spare=(received_now - sent_before + missing).astype(np.int32),
        missing=missing,
        sent=side.sent,
        received=side.received,
    )


def _graph(
    initiators: Sequence[_Flow], responders: Sequence[_Flow], strays: int, size: int
) -> Graph:
    rows: list[Ints] = []
    columns: list[Ints] = []
    begins = np.array([flow.begin for flow in responders])
    ends = np.array([flow.end for flow in responders])
    for group in _groups(initiators):
        first = min(initiators[at].begin for at in group)
        last = max(initiators[at].end for at in group)
        near = np.flatnonzero((begins < last) & (ends > first))
        if not len(near):
            continue
        first = min(first, int(begins[near].min()))
        last = max(last, int(ends[near].max()))
        needed = 8 * (2 * len(near) + len(group)) * (last - first)
        check_memory(needed, "comparing flows", "allow a longer delay, or fewer flows", packed=size)
        others = _clock([responders[at] for at in near.tolist()], first, last)
        looks = [others[:, :, ::stride].copy() for stride in _STRIDES[:-1]] + [others]
        own = _clock([initiators[at] for at in group], first, last)
        for user, mine in zip(group, own, strict=True):
            flow = initiators[user]
            open_ = np.flatnonzero((begins[near] < flow.end) & (ends[near] > flow.begin))
            for stride, theirs in zip(_STRIDES, looks, strict=True):
                least = (theirs[open_] + mine[:, ::stride]).min(axis=(1, 2), initial=0)
                open_ = open_[least >= -strays]
            rows.append(np.full(len(open_), user))
            columns.append(near[open_])
    names = [_names(side, noun) for side, noun in ((initiators, "user"), (responders, "behaviour"))]
    row, column = (np.concatenate([np.empty(0, dtype=np.int64), *ends]) for ends in (rows, columns))
    shape = (len(initiators), len(responders))
    return Graph(names[0], names[1], canonical(row, column, None, shape, str))


def _groups(flows: Sequence[_Flow]) -> Iterator[list[int]]:
    """Flows that begin near each other, so that one short clock serves them all."""
    group: list[int] = []
    for at in sorted(range(len(flows)), key=lambda index: flows[index].begin):
        far = group and flows[at].begin - flows[group[0]].begin > _TOGETHER * _LOOKS
        if far or len(group) == _TOGETHER:
            yield group
            group = []
        group.append(at)
    yield group


def _clock(flows: Sequence[_Flow], first: int, last: int) -> npt.NDArray[np.int32]:
    """Flow by condition by tick from ``first`` to ``last``."""
    table = np.empty((len(flows), 2, last - first), dtype=np.int32)
    for row, flow in zip(table, flows, strict=True):
        begin, end = flow.begin - first, flow.end - first
        row[0, :begin], row[1, :begin] = 0, flow.missing
        row[0, begin:end], row[1, begin:end] = flow.held, flow.spare
        row[0, end:], row[1, end:] = flow.missing, 0
    return table


def _names(flows: Sequence[_Flow], noun: str) -> Names:
    """Identities; with a number where one has several flows."""
    numbers: dict[str, int] = {}
    names = []
    for flow in flows:
        numbers[flow.name] = numbers.get(flow.name, 0) + 1
        again = numbers[flow.name] > 1
        names.append(f"{flow.name} ({numbers[flow.name]})" if again else flow.name)
    return Names.given(names, len(flows), noun)


# ---- what the truth shows


def _mean_delay(initiators: Sequence[_Flow], responders: Sequence[_Flow]) -> float | None:
    """Seconds on average over the pairs that lost nothing, where sums alone tell it."""
    total, packets = 0, 0
    for pair in zip(initiators, responders, strict=True):
        if sum(flow.missing for flow in pair) == 0:
            zero = int(min(flow.sent[0] for flow in pair if len(flow.sent)))
            total += sum(
                int((flow.received - zero).sum()) - int((flow.sent - zero).sum()) for flow in pair
            )
            packets += sum(len(flow.sent) for flow in pair)
    return total * _NANO / packets if packets else None


def _time_notes(
    initiators: Sequence[_Flow], responders: Sequence[_Flow], align: str | None
) -> tuple[str, ...]:
    """What the times of the recordings give away, or that they were shifted."""
    pairs = len(initiators)
    if align is not None:
        return (f"The {pairs} recordings were shifted in time to begin together.",)
    alone = _apart(
        np.array([min(a.begin, b.begin) for a, b in zip(initiators, responders, strict=True)]),
        np.array([max(a.end, b.end) for a, b in zip(initiators, responders, strict=True)]),
    )
    if pairs == 1 or not alone:
        return ()
    none = alone == pairs
    which = f"No two of the {pairs}" if none else f"{alone} of {pairs}"
    overlap = "overlap" if none else f"{'overlaps' if alone == 1 else 'overlap'} no other"
    return (
        Message(
            f"{which} recordings {overlap} in time: when they were made tells these flows apart, "
            "whatever the mix does. To ask what it hides, let them begin together: ",
            Argument("align", "start"),
            ".",
        ),
    )


def _apart(begins: Ints, ends: Ints) -> int:
    """How many of these stretches of time overlap no other.

    Examples
    --------
    >>> _apart(np.array([0, 5, 6, 20]), np.array([4, 9, 7, 30]))
    2
    """
    order = np.argsort(begins, kind="stable")
    begins, ends = begins[order], ends[order]
    before = np.concatenate(([True], np.maximum.accumulate(ends)[:-1] <= begins[1:]))
    after = np.concatenate((ends[:-1] <= begins[1:], [True]))
    return int(np.count_nonzero(before & after))


def _notes(left_out: int, ruled_out: int, pairs: int) -> tuple[str, ...]:
    notes: list[str] = []
    if left_out:
        pairs_out = several(left_out, "flow pair")
        notes.append(f"Left out: {pairs_out} with a side without data packets.")
    if ruled_out:
        notes.append(
            Message(
                f"{ruled_out} of {pairs} true pairs are ruled out: allow a longer delay (",
                Argument("longest_delay", ...),
                "), or strays if there is cover traffic (",
                Argument("strays", ...),
                ").",
            )
        )
    return tuple(notes)


def _open(
    path: Path, options: ReadOptions, law: Law | None, budget: Budget | float | None
) -> MessageObservation:
    return read_flow_pairs(
        path.parent if path.name == FLOW_PAIR else path,
        law=law,
        longest_delay=options.longest_delay,
        strays=options.strays or 0,
        align=options.align,
    )


FORMAT: SourceFormat = SourceFormat(
    text=f"a folder of flow pairs, each a folder with {FLOW_PAIR}",
    open=_open,
    uses_law=True,
    files=(FLOW_PAIR,),
    folder=lambda folder: next(flow_pair_files(folder), None) is not None,
    holds=f"folders with a {FLOW_PAIR}",
)
