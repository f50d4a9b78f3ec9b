"""The samples of a training objective, read again in every pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from feaslearn.costs import FloatArray
from feaslearn.data.block import BLOCK_ROWS, Block
from feaslearn.data.checks import column_ends, observed
from feaslearn.data.chunk_source import Chunk, ChunkSource
from feaslearn.exceptions import DataError

Answer = TypeVar("Answer")
Rows: TypeAlias = NDArray[np.intp]
#: Makes a block of the rows of a chunk that count, and says which those are.
Read: TypeAlias = Callable[[Chunk], tuple[Block, Rows]]

#: Rows that are kept, spread evenly over the data; up to twice as many.
KEPT = 2000


@dataclass
class _Notes:
    """What is known of the data so far."""

    passes: int = 0
    survey: Survey | None = None


@dataclass(frozen=True, eq=False)
class BlockSource:
    """The blocks of data that come in chunks; each `map` is one pass over the data.

    The first whole pass surveys the data on its way.

    Parameters
    ----------
    chunks : ChunkSource
        The data.
    read : callable
        Makes of a chunk the block that a loss reads, and says which rows of the chunk it holds.
    first : Block
        Some rows at the beginning, which are kept: they tell the sizes.
    features : tuple of int, optional
        The signals that features are made of, where features alone can be had for less.
    n_jobs : int, default=1
        Threads of the passes that are not told otherwise.
    """

    chunks: ChunkSource
    read: Read
    first: Block
    features: tuple[int, ...] | None = None
    n_jobs: int = 1
    _notes: _Notes = field(default_factory=_Notes)

    @property
    def passes(self) -> int:
        """How often the data were gone through."""
        return self._notes.passes

    @property
    def n_rows(self) -> int | None:
        """Number of the rows of the source, where it is known."""
        seen = self._notes.survey
        return self.chunks.n_rows if seen is None else seen.n_rows

    def survey(self, between: Callable[[], object] | None = None) -> Survey:
        """Return what is known of the data; that takes a pass if there was none.

        What is to be done ``between`` blocks, such as a look at the clock, may raise.
        """
        if self._notes.survey is None:
            for _ in self.map(_nothing, self.n_jobs):
                if between is not None:
                    between()
        if self._notes.survey is None:
            raise DataError("there is no row with a positive weight and an observed decision")
        return self._notes.survey

    def map(
        self,
        function: Callable[[Block, Rows], Answer],
        n_jobs: int = 1,
        features_only: bool = False,
        rows: int = BLOCK_ROWS,
        added: bool = False,
    ) -> Iterator[Answer]:
        """Yield what ``function`` makes of each block, in order.

        Parameters
        ----------
        function : callable
            Is given a block and the number of each of its rows in the source.
        n_jobs : int, default=1
            How many chunks are worked on at a time.
        features_only : bool, default=False
            Whether ``function`` looks at features alone: costs and decisions may be zeros.
        rows : int
            No block has more rows than this.
        added : bool, default=False
            Whether answers, numbers or arrays or tuples of them, are only to be added up: those
            of a chunk may come as one.

        Yields
        ------
        object
            The answer for each block.
        """
        notes, whole = self._notes, self.chunks.n_rows
        notes.passes += 1
        seen = notes.survey
        # Rows without any decision do not count; where there are some, they must be read to know.
        spared = features_only and seen is not None and seen.n_samples == seen.n_rows
        step = None if seen is not None else 1 if whole is None else -(-whole // KEPT)
        found: Survey | None = None
        work = _OfChunk(self.read, function, rows, step, added and self.chunks.adds)
        for answers, part in self.chunks.map(work, n_jobs, self.features if spared else None):
            if part is not None:
                found = part if found is None else found.plus(part)
            yield from answers
        if found is not None:
            notes.survey = found

    def __iter__(self) -> Iterator[Block]:
        return self.map(_block, self.n_jobs)

    def apply(self, function: Callable[[Block], Block]) -> BlockSource:
        """Return the blocks that ``function`` makes of these; nothing is read."""
        return replace(self, read=_Then(self.read, function), first=function(self.first))

    def normalized(self) -> BlockSource:
        """Return the same samples with weights that add up to one, row by row in memory."""
        return self.apply(partial(_weighted, 1.0 / self.survey().weight))

    def sample(self, size: int, random: np.random.Generator, drawn: Rows | None = None) -> Block:
        """Return so many samples, those given or drawn at random, or all of them: one pass."""
        total = self.survey().n_rows
        if drawn is None and total <= size:
            drawn = np.arange(total)
        elif drawn is None:
            drawn = np.sort(random.choice(total, size, replace=False))
        parts = list(self.map(partial(rows_taken, drawn), self.n_jobs))
        return Block(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


@dataclass(frozen=True)
class _OfChunk:
    """Applies a function to every block of a chunk; an object, so that it can be sent."""

    read: Read
    function: Callable[[Block, Rows], Any]
    rows: int
    step: int | None
    added: bool

    def __call__(self, chunk: Chunk) -> tuple[list[Any], Survey | None]:
        answers, survey = [], None
        for start in range(0, chunk.n_rows, self.rows):
            part = chunk.rows(start, start + self.rows)
            block, kept = self.read(part)
            if self.step is not None:
                found = Survey.of(part, block, kept, self.step)
                survey = found if survey is None else survey.plus(found)
            if len(kept):
                answers.append(self.function(block, part.first + kept))
            if self.added and len(answers) == 2:
                answers = [plus(*answers)]
        return answers, survey


@dataclass(frozen=True)
class _Then:
    """A reading, and what is made of the block."""

    read: Read
    function: Callable[[Block], Block]

    def __call__(self, chunk: Chunk) -> tuple[Block, Rows]:
        block, kept = self.read(chunk)
        return self.function(block), kept


def plus(one: Any, other: Any) -> Any:
    """Add up two answers: numbers, arrays, or tuples of them."""
    if isinstance(one, tuple):
        return tuple(plus(*pair) for pair in zip(one, other, strict=True))
    return one + other


def _block(block: Block, _: Rows) -> Block:
    return block


def _nothing(_: Block, __: Rows) -> None:
    return None


def _weighted(factor: float, block: Block) -> Block:
    # Kernels compile once more for columns that stand together, and for what cannot be written to.
    rows = (np.require(array, requirements=["C", "W"]) for array in block)
    features, costs, decisions, weights = rows
    return Block(features, costs, decisions, weights * factor)


def rows_taken(drawn: Rows, block: Block, rows: Rows) -> Block:
    """Return the samples of a block whose numbers were drawn, which are sorted."""
    return block.rows(np.isin(rows, drawn[slice(*np.searchsorted(drawn, [rows[0], rows[-1] + 1]))]))


# What a pass over data in chunks learns on its way.


class Survey(NamedTuple):
    """Sizes, ranges and some rows of data that were gone through; surveys of parts add up.

    Parameters
    ----------
    n_rows : int
        Rows of the source.
    n_samples : int
        Those that count: with a positive weight, and something observed.
    weight : float
        The sum of their weights.
    observed : ndarray of shape (n,)
        How often each decision was observed.
    signals, decisions : ndarray of shape (2, K) and (2, n)
        Least and greatest values.
    step : int
        Rows whose number is a multiple of this are kept.
    numbers : ndarray
        The numbers of the rows that are kept.
    rows : Block
        These rows.
    """

    n_rows: int
    n_samples: int
    weight: float
    observed: NDArray[np.intp]
    signals: FloatArray
    decisions: FloatArray
    step: int
    numbers: NDArray[np.intp]
    rows: Block

    @classmethod
    def of(cls, chunk: Chunk, block: Block, kept: NDArray[np.intp], step: int) -> Survey:
        """Look at a chunk and at the block that was made of its rows ``kept``."""
        signals = chunk.signals
        if len(kept) == chunk.n_rows:
            chosen = np.arange(-chunk.first % step, chunk.n_rows, step)
        else:
            signals = signals[kept]
            chosen = np.flatnonzero((chunk.first + kept) % step == 0)
        return cls(
            chunk.first + chunk.n_rows,
            len(kept),
            float(block.weights.sum()),
            observed(block.decisions),
            column_ends(signals),
            column_ends(block.decisions),
            step,
            chunk.first + kept[chosen],
            block.rows(chosen),
        )

    def plus(self, other: Survey) -> Survey:
        """Return the survey of both parts."""
        step = max(self.step, other.step)
        numbers = np.concatenate([self.numbers, other.numbers])
        rows = Block(*(np.concatenate(pair) for pair in zip(self.rows, other.rows, strict=True)))
        while (chosen := numbers % step == 0).sum() > 2 * KEPT:
            step *= 2
        return Survey(
            max(self.n_rows, other.n_rows),
            self.n_samples + other.n_samples,
            self.weight + other.weight,
            self.observed + other.observed,
            _both(self.signals, other.signals),
            _both(self.decisions, other.decisions),
            step,
            numbers[chosen],
            rows.rows(chosen),
        )


def _both(one: FloatArray, other: FloatArray) -> FloatArray:
    return np.array([np.fmin(one[0], other[0]), np.fmax(one[1], other[1])])
