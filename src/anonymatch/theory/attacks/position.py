"""Position: what is left of a graph after some exposures; only the block touched is looked at."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch.theory.attacks.residual import Block, Ints, Residual, Spot, Whole, log_of_share

__all__ = ["Position", "Rank"]

Rank = Callable[[Residual], tuple[Any, Ints]]
"""How good the best target of a block is (less is better), and which of its users are that good."""

_NEVER = np.iinfo(np.int64).max


class Position:
    """The blocks that are left, who is in which, and who is the best target.

    Blocks are numbered: first those of the graph, then those that exposures leave.
    """

    def __init__(self, whole: Whole, rank: Rank | None = None) -> None:
        self.whole, self.rank = whole, rank
        self.exposed: dict[int, int] = {}  # user: behaviour, in the order of exposures
        self.log = 0.0  # natural log of the share of matchings that are left
        self.doubt = np.zeros(whole.graph.n_users, dtype=bool)  # users who are not identified
        self.n_edges = len(whole.table.edges)  # in some matching, of users not exposed
        self._pieces: list[Block] = []  # left by exposures
        self._born: list[int] = []  # the exposure that made each piece
        self._ended: dict[int, int] = {}  # block: the exposure that ended it
        self._block_of: dict[int, int] = {}  # user: the piece, if in any
        self._forced: dict[int, int] = {}
        self._tied: dict[Any, int] = {}  # users of each rank
        self._heap: list[tuple[Any, int, int]] = []
        self._unranked: list[int] = []  # pieces that nobody has compared yet
        self._next = 0  # in the queue
        self._queue = self._ranked_blocks()  # blocks and their first targets, the best first

    def _ranked_blocks(self) -> tuple[tuple[int, int], ...]:
        ranked: list[tuple[Any, Ints, Ints]] = []
        for shape, blocks, users in self.whole.members():
            if shape.settled:
                continue
            self.doubt[users] = True
            if self.rank is not None:
                key, best = self.rank(shape)
                self._tied[key] = self._tied.get(key, 0) + len(best) * len(blocks)
                ranked.append((key, blocks, users[:, best].min(axis=1)))
        if not ranked:
            return ()
        ranks = {key: index for index, key in enumerate(sorted(self._tied))}
        keys = np.concatenate([np.full(len(blocks), ranks[key]) for key, blocks, _ in ranked])
        numbers, firsts = (np.concatenate([entry[k] for entry in ranked]) for k in (1, 2))
        order = np.lexsort((firsts, keys))
        return tuple(zip(numbers[order].tolist(), firsts[order].tolist(), strict=True))

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
        pieces = frozenset((piece.users.tobytes(), piece.shape) for piece in self._live())
        return pieces, frozenset(k for k in self._ended if k < self.whole.table.n_blocks)

    # ---- who is where

    def _block(self, number: int) -> Block:
        older = self.whole.table.n_blocks
        return self.whole.block(number) if number < older else self._pieces[number - older]

    def _live(self) -> list[Block]:
        numbered = enumerate(self._pieces, self.whole.table.n_blocks)
        return [piece for number, piece in numbered if number not in self._ended]

    def spot(self, user: int) -> Spot | None:
        """Where a user is, or None if it is known what the user did."""
        if not self.doubt[user]:
            return None
        number = self._block_of.get(user, int(self.whole.block_of_user[user]))
        return Spot.of(user, number, self._block(number))

    def forced_behaviour(self, user: int) -> int:
        """What a user did who is identified without being exposed."""
        known = self._forced.get(user)
        return self.whole.spot(user).behaviour(0) if known is None else known

    def blocks(self) -> list[Block]:
        """Every block that is left."""
        whole, numbers = self.whole, range(self.whole.table.n_blocks)
        left = [b for b in numbers if b not in self._ended and not whole.shape(b).settled]
        return [whole.block(number) for number in left] + self._live()

    # ---- the best target

    def best(self) -> tuple[Any, int]:
        """The rank of the best target, and the first user who has it."""
        assert self.rank is not None
        for number in self._unranked:  # solved and ranked when somebody asks for the best target
            piece = self._block(number)
            key, best = self.rank(piece.shape)
            heapq.heappush(self._heap, (key, int(piece.users[best].min()), number))
            self._tie(piece.shape, 1)
        self._unranked = []
        while self._next < len(self._queue) and self._queue[self._next][0] in self._ended:
            self._next += 1
        while self._heap and self._heap[0][2] in self._ended:
            heapq.heappop(self._heap)
        candidates: list[tuple[Any, int]] = [entry[:2] for entry in self._heap[:1]]
        if self._next < len(self._queue):
            number, first = self._queue[self._next]
            candidates.append((self.rank(self.whole.shape(number))[0], first))
        return min(candidates)

    def n_tied(self, key: Any) -> int:
        """How many users have this rank."""
        return self._tied.get(key, 0)

    def tied_users(self, key: Any, step: int) -> list[int]:
        """Users who had this rank before the given exposure (1 is the first)."""
        assert self.rank is not None
        tied: list[Ints] = []
        for shape, blocks, users in self.whole.members():
            if shape.settled:
                continue
            rank, best = self.rank(shape)
            if rank == key:
                alive = [self._ended.get(b, _NEVER) >= step for b in blocks.tolist()]
                tied.append(users[np.array(alive)][:, best].ravel())
        for number, piece in enumerate(self._pieces):
            ended = self._ended.get(self.whole.table.n_blocks + number, _NEVER)
            if self._born[number] < step <= ended:
                rank, best = self.rank(piece.shape)
                tied += [piece.users[best]] if rank == key else []
        return sorted(np.concatenate(tied).tolist()) if tied else []

    def _tie(self, shape: Residual, sign: int) -> None:
        if self.rank is not None:
            key, best = self.rank(shape)
            self._tied[key] = self._tied.get(key, 0) + sign * len(best)

    # ---- exposures

    def expose(
        self, user: int, behaviour: int
    ) -> tuple[Fraction | float, tuple[tuple[int, int], ...]]:
        """Reveal that a user did a behaviour: both leave, and the user's block falls apart.

        Return the share of the matchings that is left, and the pairs that are forced now.
        """
        spot = self.spot(user)
        self.exposed[user] = behaviour
        if spot is None:
            self.n_edges -= 1
            return Fraction(1), ()
        edge, block, step = spot.edge(behaviour), spot.block, len(self.exposed)
        assert edge is not None  # the truth was checked to be a matching
        split = self.whole.owner.splits(spot.shape, [edge])[0]
        probability = spot.shape.probability(edge)
        forced = tuple((int(block.users[u]), int(block.behaviours[b])) for u, b in split.forced)
        self._ended[spot.number] = step
        self._tie(spot.shape, -1)
        self._forced.update(forced)
        self.doubt[[user, *(other for other, _ in forced)]] = False
        for part in split.parts:
            number = self.whole.table.n_blocks + len(self._pieces)
            piece = part.inside(block)
            self._pieces.append(piece)
            self._born.append(step)
            self._block_of.update(dict.fromkeys(piece.users.tolist(), number))
            self._unranked.append(number)
        self.log += log_of_share(probability)
        self.n_edges += split.n_edges - spot.shape.graph.n_edges
        return probability, forced

    # ---- degrees, for attackers who count nothing else

    def degrees(self, step: int | None = None) -> npt.NDArray[np.int64]:
        """Edges of each user to behaviours not revealed before an exposure; -1: exposed."""
        gone = list(self.exposed.items())[: None if step is None else step - 1]
        borders, users = self.whole.columns
        degrees = self.whole.graph.degrees
        for _, behaviour in gone:
            degrees[users[borders[behaviour] : borders[behaviour + 1]]] -= 1
        degrees[[user for user, _ in gone]] = -1
        return degrees
