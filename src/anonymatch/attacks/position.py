"""Position: what is left of a graph after some exposures; only the block touched is looked at."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch.attacks.residual import Ints, Residual, Residuals, Split, Whole
from anonymatch.counting import log_of
from anonymatch.graph import pointers

__all__ = ["Change", "Field", "Position", "Rank", "Spot"]

Rank = Callable[[Residual], tuple[Any, Ints]]
"""How good the best target of a block is (less is better), and which of its users are that good."""

_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A block that exposures have left, with the exposure that made it."""

    users: Ints
    behaviours: Ints
    shape: Residual
    born: int


@dataclass(frozen=True, slots=True, eq=False)
class Spot:
    """Where a user is: in which block, and as which of its users."""

    user: int
    shape: Residual
    users: Ints
    behaviours: Ints
    block: int | None  # of the graph at the start
    piece: int | None  # or left by an exposure

    @property
    def share(self) -> Fraction | float:
        """Share of the matchings that exposing the user leaves on average."""
        return self.shape.share(self.user)

    @property
    def entropy(self) -> float:
        """Shannon entropy of the user's probabilities, in nats."""
        return float(self.shape.entropies[self.user])

    def edge(self, behaviour: int) -> int | None:
        """The block's edge between the user and a behaviour of the graph, if there is one."""
        matches = np.flatnonzero(self.behaviours == behaviour)
        return self.shape.edge(self.user, int(matches[0])) if len(matches) else None

    def groups(self) -> list[list[int]]:
        """The user's edges, those together whose behaviours are alike."""
        return self.shape.groups(self.user)

    def behaviour(self, edge: int) -> int:
        """The behaviour, in the graph, of an edge of the block."""
        return int(self.behaviours[self.shape.graph.indices[edge]])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Change:
    """What an exposure did: the share of matchings it left, and pairs that it forced."""

    probability: Fraction | float
    forced: tuple[tuple[int, int], ...]

    @property
    def log(self) -> float:
        return (
            log_of(self.probability)
            if isinstance(self.probability, Fraction)
            else np.log(self.probability)
        )


class Field:
    """What all positions of one graph share: its blocks, ranked once."""

    def __init__(self, shapes: Residuals, whole: Whole, rank: Rank | None) -> None:
        self.shapes, self.whole, self.rank = shapes, whole, rank
        doubt = np.zeros(whole.graph.n_users, dtype=bool)
        tied: dict[Any, int] = {}
        ranked: list[tuple[Any, Ints, Ints]] = []
        for shape, blocks, users in whole.members():
            if shape.settled:
                continue
            doubt[users] = True
            if rank is not None:
                key, best = rank(shape)
                tied[key] = tied.get(key, 0) + len(best) * len(blocks)
                ranked.append((key, blocks, users[:, best].min(axis=1)))
        self.doubt, self.tied = doubt, tied
        ranks = {key: index for index, key in enumerate(sorted(tied))}
        keys = [np.full(len(blocks), ranks[key]) for key, blocks, _ in ranked]
        blocks_, firsts = (
            np.concatenate([np.empty(0, dtype=np.int64), *(entry[k] for entry in ranked)])
            for k in (1, 2)
        )
        order = np.lexsort((firsts, np.concatenate([np.empty(0, dtype=np.int64), *keys])))
        self.queue: list[int] = blocks_[order].tolist()  # blocks, the best target first
        self.firsts: list[int] = firsts[order].tolist()

    @cached_property
    def columns(self) -> tuple[Ints, Ints]:
        """Users of each behaviour: where each behaviour begins, and the users."""
        graph = self.whole.graph
        order = np.argsort(graph.indices, kind="stable")
        borders = pointers(graph.indices[order], graph.n_behaviours)
        return borders.astype(np.int64), graph.rows()[order].astype(np.int64)


class Position:
    """The blocks that are left, who is in which, and who is the best target."""

    def __init__(self, field: Field) -> None:
        self.field = field
        self.exposed: dict[int, int] = {}  # user: behaviour, in the order of exposures
        self.log = 0.0  # natural log of the share of matchings that are left
        self.doubt = field.doubt.copy()  # users who are not identified
        self.n_edges = len(field.whole.table.edges)  # in some matching, of users not exposed
        self._touched: dict[int, int] = {}  # block of the graph: the exposure that ended it
        self._pieces: dict[int, Piece] = {}
        self._died: dict[int, int] = {}  # piece: the exposure that ended it
        self._piece_of: dict[int, int] = {}  # user of a touched block: the piece, if in any
        self._forced: dict[int, int] = {}
        self._tied = dict(field.tied)
        self._heap: list[tuple[Any, int, int]] = []
        self._unranked: list[int] = []  # pieces that nobody has compared yet
        self._next = 0  # in the queue

    def copy(self) -> Position:
        """A position of its own, as it is now."""
        new = Position.__new__(Position)
        new.__dict__.update(self.__dict__)
        for name, value in self.__dict__.items():
            if isinstance(value, dict | list | np.ndarray):
                setattr(new, name, value.copy())
        return new

    @property
    def in_doubt(self) -> int:
        """How many users are not identified; 0: one matching is left."""
        return int(np.count_nonzero(self.doubt))

    def key(self) -> Hashable:
        """Equal for positions that are equal but for the names of behaviours."""
        live = (p for k, p in self._pieces.items() if k not in self._died)
        return frozenset((p.users.tobytes(), p.shape) for p in live), frozenset(self._touched)

    # ---- who is where

    def spot(self, user: int) -> Spot | None:
        """Where a user is, or None if it is known what the user did."""
        if not self.doubt[user]:
            return None
        block = int(self.field.whole.block_of_user[user])
        if block in self._touched:
            number = self._piece_of[user]
            piece = self._pieces[number]
            local = int(np.flatnonzero(piece.users == user)[0])
            return Spot(local, piece.shape, piece.users, piece.behaviours, None, number)
        whole = self.field.whole
        users = whole.users(block)
        local = int(np.flatnonzero(users == user)[0])
        return Spot(local, whole.shape(block), users, whole.behaviours(block), block, None)

    def forced_behaviour(self, user: int) -> int:
        """What a user did who is identified without being exposed."""
        if user in self._forced:
            return self._forced[user]
        whole = self.field.whole
        return int(whole.behaviours(int(whole.block_of_user[user]))[0])

    def blocks(self) -> list[tuple[Residual, Ints]]:
        """Every block that is left, with its users."""
        whole = self.field.whole
        table = whole.table
        left = [
            (whole.shape(b), whole.users(b))
            for b in range(table.n_blocks)
            if b not in self._touched and not whole.shape(b).settled
        ]
        return left + [(p.shape, p.users) for k, p in self._pieces.items() if k not in self._died]

    # ---- the best target

    def best(self) -> tuple[Any, int]:
        """The rank of the best target, and the first user who has it."""
        field = self.field
        self._rank_pieces()
        while self._next < len(field.queue) and field.queue[self._next] in self._touched:
            self._next += 1
        while self._heap and self._heap[0][2] in self._died:
            heapq.heappop(self._heap)
        candidates: list[tuple[Any, int]] = [entry[:2] for entry in self._heap[:1]]
        if self._next < len(field.queue) and field.rank is not None:
            key, _ = field.rank(field.whole.shape(field.queue[self._next]))
            candidates.append((key, field.firsts[self._next]))
        return min(candidates)

    def _rank_pieces(self) -> None:
        """Solve and rank what exposures left: not before somebody asks for the best target."""
        if self.field.rank is not None:
            for number in self._unranked:
                piece = self._pieces[number]
                key, best = self.field.rank(piece.shape)
                heapq.heappush(self._heap, (key, int(piece.users[best].min()), number))
                self._tie(piece.shape, 1)
        self._unranked = []

    def n_tied(self, key: Any) -> int:
        """How many users have this rank."""
        number: int = self._tied.get(key, 0)
        return number

    def tied_users(self, key: Any, step: int) -> list[int]:
        """Users who had this rank before the given exposure (1 is the first)."""
        assert self.field.rank is not None
        tied: list[Ints] = []
        for shape, blocks, users in self.field.whole.members():
            if shape.settled:
                continue
            rank, best = self.field.rank(shape)
            if rank == key:
                alive = [self._touched.get(b, _NEVER) >= step for b in blocks.tolist()]
                tied.append(users[np.array(alive)][:, best].ravel())
        for number, piece in self._pieces.items():
            if piece.born < step <= self._died.get(number, _NEVER):
                rank, best = self.field.rank(piece.shape)
                tied += [piece.users[best]] if rank == key else []
        return sorted(np.concatenate(tied).tolist()) if tied else []

    # ---- exposures

    def expose(self, user: int, behaviour: int) -> Change:
        """Reveal that a user did a behaviour: both leave, and the user's block falls apart."""
        spot = self.spot(user)
        if spot is None:
            self.n_edges -= 1
            self.exposed[user] = behaviour
            return Change(probability=Fraction(1), forced=())
        edge = spot.edge(behaviour)
        assert edge is not None  # the truth was checked to be a matching
        split = self.field.shapes.split(spot.shape, edge)
        change = Change(
            probability=spot.shape.probability(edge),
            forced=tuple((int(spot.users[u]), int(spot.behaviours[b])) for u, b in split.forced),
        )
        self.exposed[user] = behaviour
        self._retire(spot)
        self._settle(user, change)
        self._add(spot, split)
        self.log += change.log
        self.n_edges += split.n_edges - spot.shape.graph.n_edges
        return change

    def _retire(self, spot: Spot) -> None:
        step = len(self.exposed)
        if spot.block is not None:
            self._touched[spot.block] = step
        elif spot.piece is not None:
            self._died[spot.piece] = step
        self._tie(spot.shape, -1)

    def _settle(self, user: int, change: Change) -> None:
        self.doubt[user] = False
        for other, behaviour in change.forced:
            self.doubt[other] = False
            self._forced[other] = behaviour

    def _add(self, spot: Spot, split: Split) -> None:
        for part in split.parts:
            number = len(self._pieces)
            users = spot.users[part.users]
            piece = Piece(users, spot.behaviours[part.behaviours], part.shape, len(self.exposed))
            self._pieces[number] = piece
            self._piece_of.update(dict.fromkeys(users.tolist(), number))
            self._unranked.append(number)

    def _tie(self, shape: Residual, sign: int) -> None:
        if self.field.rank is not None:
            key, best = self.field.rank(shape)
            self._tied[key] = self._tied.get(key, 0) + sign * len(best)

    # ---- degrees, for attackers who count nothing else

    def degrees(self, step: int | None = None) -> npt.NDArray[np.int64]:
        """Edges of each user to behaviours not revealed before an exposure; -1: exposed."""
        graph = self.field.whole.graph
        gone = list(self.exposed.items())[: None if step is None else step - 1]
        borders, users = self.field.columns
        degrees = graph.degrees
        for _, behaviour in gone:
            degrees[users[borders[behaviour] : borders[behaviour + 1]]] -= 1
        degrees[[user for user, _ in gone]] = -1
        return degrees
