"""The samples that are learned from: maps and sums over blocks of rows, wherever the rows are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.data.checks import column_ends, observed
from feaslearn.data.source import BLOCK_ROWS, Chunk, Memory, Source
from feaslearn.exceptions import DataError

Answer = TypeVar("Answer")

#: Rows that the first pass keeps, spread evenly over the data; up to twice as many.
KEPT = 2000


class Block(NamedTuple):
    """What a loss reads of some samples; NaN in the decisions means unobserved."""

    # Arrays are C-contiguous, writable and of double precision: kernels compile once more for
    # others.

    features: Array
    costs: Array
    decisions: Array
    weights: Array

    def rows(self, chosen: slice | Mask | Indices) -> Block:
        """Return some of the samples."""
        return Block(*(np.ascontiguousarray(array[chosen]) for array in self))

    def normalized(self) -> Block:
        """Return the same samples with weights that add up to one."""
        return self._replace(weights=self.weights / (float(self.weights.sum()) or 1.0))

    @classmethod
    def joined(cls, blocks: list[Block]) -> Block:
        """Return the samples of several blocks, one after the other."""
        return cls(*(np.concatenate(arrays) for arrays in zip(*blocks, strict=True)))


#: Makes a block of the rows of a chunk that count, and says which those are.
Read: TypeAlias = Callable[[Chunk], tuple[Block, Indices]]


def read_block(chunk: Chunk) -> tuple[Block, Indices]:
    """Return rows that are a block already: features stand in the place of the signals."""
    if chunk.costs is None:
        raise AssertionError("a block without costs")
    block = Block(chunk.signals, chunk.costs, chunk.decisions, chunk.weights)
    return block, np.arange(chunk.n_rows)


class Summary(NamedTuple):
    """Sizes, ranges and some rows of all samples; summaries of parts add up."""

    n_rows: int
    n_samples: int
    weight: float
    observed: Indices
    signals: Array
    decisions: Array
    step: int
    numbers: Indices
    rows: Block

    @classmethod
    def of(cls, counted: Chunk, n_rows: int, step: int, numbers: Indices, rows: Block) -> Summary:
        """Summarize rows that count, some of which are kept with their numbers."""
        return cls(
            n_rows,
            counted.n_rows,
            float(counted.weights.sum()),
            observed(counted.decisions),
            column_ends(counted.signals),
            column_ends(counted.decisions),
            step,
            numbers,
            rows,
        )

    def plus(self, other: Summary) -> Summary:
        """Return the summary of both parts."""
        step = max(self.step, other.step)
        numbers = np.concatenate([self.numbers, other.numbers])
        rows = Block.joined([self.rows, other.rows])
        while (chosen := numbers % step == 0).sum() > 2 * KEPT:
            step *= 2
        return Summary(
            max(self.n_rows, other.n_rows),
            self.n_samples + other.n_samples,
            self.weight + other.weight,
            self.observed + other.observed,
            column_ends(np.vstack([self.signals, other.signals])),
            column_ends(np.vstack([self.decisions, other.decisions])),
            step,
            numbers[chosen],
            rows.rows(chosen),
        )


@dataclass
class _State:
    """What is known of the rows of a source so far, whatever is made of them."""

    passes: int = 0
    head: Block | None = None
    summary: Summary | None = None


@dataclass(frozen=True, eq=False)
class Samples:
    r"""Samples (features, costs, decision, weight); what is learned is a map or a sum over blocks.

    .. math:: \sum_i w_i \ell_i = \sum_{\text{blocks}} \sum_{i \in \text{block}} w_i \ell_i

    Blocks have a fixed size and are added in their order, so a sum has the same bits for any number
    of threads. Where the rows are is the business of the source alone; each `map` of rows that are
    not in memory is one pass over them, and the first pass summarizes them on its way.
    """

    source: Source
    read: Read
    columns: tuple[int, ...] | None = None
    n_jobs: int = 1
    changes: tuple[Callable[[Block], Block], ...] = ()
    _state: _State = field(default_factory=_State, repr=False)

    @classmethod
    def of(cls, block: Block, rows: int = BLOCK_ROWS) -> Samples:
        """Return samples in memory, in blocks of at most ``rows`` of them."""
        features, costs, decisions, weights = block
        return cls(Memory(Chunk(features, decisions, weights, costs=costs), rows), read_block)

    # Sizes.

    @property
    def in_memory(self) -> bool:
        """Whether the rows are in memory: passes are cheap, and state can be kept by block."""
        return isinstance(self.source, Memory)

    @property
    def passes(self) -> int:
        """How often the data were gone through."""
        return self._state.passes

    @property
    def n_rows(self) -> int | None:
        """The number of rows of the source, where it is known."""
        seen = self._state.summary
        return self.source.n_rows if seen is None else seen.n_rows

    @property
    def n_samples(self) -> int:
        """The number of samples."""
        if isinstance(self.source, Memory):
            return self.source.n_rows
        return self.summary().n_samples

    @property
    def n_observed(self) -> int:
        """The number of decisions that were observed."""
        return int(self.summary().observed.sum())

    def summary(self, between: Callable[[], object] | None = None) -> Summary:
        """Return sizes and ranges of the samples; that takes a pass if there was none.

        What is to be done ``between`` blocks, such as a check of the deadline, may raise.
        """
        state = self._state
        if state.summary is None and isinstance(self.source, Memory):
            table, none = self.source.table, np.zeros(0, dtype=np.intp)
            rows = self._first_block().rows(none)
            state.summary = Summary.of(table, table.n_rows, table.n_rows, none, rows)
        if state.summary is None:
            for _ in self.map(lambda _: None, self.n_jobs):
                if between is not None:
                    between()
        if state.summary is None:
            raise DataError("there is no row with a positive weight and an observed decision")
        return state.summary

    # Passes.

    def map(
        self,
        function: Callable[[Block], Answer],
        n_jobs: int = 1,
        *,
        features_only: bool = False,
        rows: int = BLOCK_ROWS,
    ) -> Iterator[Answer]:
        """Yield what ``function`` makes of each block of at most ``rows`` rows, in order.

        With ``features_only`` it reads features alone: costs and decisions may be zeros.
        """
        return self._map(lambda block, _: function(block), n_jobs, rows, features_only)

    def map_rows(
        self,
        function: Callable[[Block, Indices], Answer],
        n_jobs: int = 1,
        rows: int = BLOCK_ROWS,
    ) -> Iterator[Answer]:
        """Yield what ``function`` makes of each block and the numbers of its rows, in order."""
        return self._map(function, n_jobs, rows)

    def sum(self, function: Callable[[Block], Answer], n_jobs: int = 1) -> Answer:
        """Return the sum of what ``function`` makes of each block, in order: one pass."""
        added = self.source.adds
        total: Answer = reduce(plus, self._map(lambda b, _: function(b), n_jobs, added=added))
        return total

    def _map(
        self,
        function: Callable[[Block, Indices], Any],
        n_jobs: int,
        rows: int = BLOCK_ROWS,
        features_only: bool = False,
        added: bool = False,
    ) -> Iterator[Any]:
        """Do one pass; summarize rows that are not in memory on the first one."""
        state, source, columns, step = self._state, self.source, None, None
        state.passes += 1
        if isinstance(source, Memory):
            count = source.n_rows
            if self.read is read_block and 0 < count <= min(rows, source.rows, BLOCK_ROWS):
                # One block, of which searches make thousands of passes.
                yield function(self.head(), np.arange(count))
                return
            if features_only:
                nothing = np.broadcast_to(0.0, source.table.decisions.shape)
                source = replace(source, table=source.table._replace(costs=nothing))
            source = source.cut(rows)
        elif state.summary is None:
            step = 1 if source.n_rows is None else -(-source.n_rows // KEPT)
        elif features_only and state.summary.n_samples == state.summary.n_rows:
            # Rows without any decision do not count; where there are some, they must be read.
            columns = self.columns
        work = _Pass(self.read, self.changes, function, rows, step, added)
        found: Summary | None = None
        for answers, part in source.map(work, n_jobs, columns):
            if part is not None:
                found = part if found is None else found.plus(part)
            yield from answers
        if found is not None:
            state.summary = found

    def __iter__(self) -> Iterator[Block]:
        return self.map(lambda block: block, self.n_jobs)

    # Other samples; nothing is read for them unless it is said.

    def then(self, change: Callable[[Block], Block]) -> Samples:
        """Return the samples that ``change`` makes of each block."""
        # In memory they are made once, for the many passes of a search; but not of numbers of
        # single precision, which would take twice the memory.
        if isinstance(self.source, Memory) and self.source.table.signals.dtype != np.float32:
            return Samples.of(self._made(change), self.source.rows)
        return replace(self, changes=(*self.changes, change))

    def _made(self, change: Callable[[Block], Block]) -> Block:
        """Return all changed samples; the table as it was read is never held as a whole."""
        if self.read is read_block:
            return change(self.load())
        arrays: list[Array] = []
        count, end = self.n_samples, 0
        for block in self.map(change):
            if not arrays:
                arrays = [np.empty((count, *array.shape[1:])) for array in block]
            start, end = end, end + len(block.weights)
            for array, part in zip(arrays, block, strict=True):
                array[start:end] = part
        return Block(*arrays)

    def normalized(self) -> Samples:
        """Return the same samples with weights that add up to one; in memory, they are as given."""
        return self if self.in_memory else self.then(partial(_scaled, 1.0 / self.summary().weight))

    def subsample(self, size: int, random: np.random.Generator) -> Samples:
        """Return at most so many samples, drawn at random, in memory, with weights of sum one."""
        if self.in_memory and self.n_samples <= size:
            return self
        return Samples.of(self._drawn(size, random).normalized())

    # Rows as one block.

    def head(self) -> Block:
        """Return the first block, which tells sizes."""
        return self._head

    @cached_property
    def _head(self) -> Block:
        return self._changed(self._first_block())

    def _changed(self, block: Block) -> Block:
        for change in self.changes:
            block = change(block)
        return block

    def _first_block(self) -> Block:
        """Return the first block as it is read; of chunks it is kept."""
        state = self._state
        if state.head is None:
            chunk = self.source.head()
            block, kept = self.read(chunk)
            if not len(kept) and chunk.n_rows:
                raise DataError(
                    f"{chunk.place}: none of the first {chunk.n_rows} rows has a positive weight "
                    "and an observed decision"
                )
            state.head = block.rows(slice(BLOCK_ROWS))
        return state.head

    def spread(self, size: int = BLOCK_ROWS) -> Block:
        """Return all samples, or about so many from everywhere."""
        # Of samples that are not in memory, these are of the rows that the first pass kept; before
        # it, the first block.
        if isinstance(self.source, Memory):
            return self._of(self.source.table.chosen(slice(None, None, self.step(size))))
        if self._state.summary is None:
            return self.head()
        block = self._state.summary.rows
        return self._changed(block.rows(slice(None, None, -(-len(block.weights) // size))))

    def step(self, size: int = BLOCK_ROWS) -> int:
        """Return how far rows of `spread` are from each other."""
        return -(-max(1, self.n_samples) // size)

    def draw(self, size: int, random: np.random.Generator) -> Block:
        """Return all samples, or at most so many, drawn at random, of those not in memory."""
        return self.load() if self.in_memory else self._drawn(size, random)

    def _drawn(self, size: int, random: np.random.Generator) -> Block:
        total = self.n_samples if self.in_memory else self.summary().n_rows
        some = total > size
        return self.take(
            np.sort(random.choice(total, size, replace=False)) if some else np.arange(total)
        )

    def take(self, rows: Indices) -> Block:
        """Return the samples with these numbers, which are sorted: one pass."""
        if isinstance(self.source, Memory):
            return self._of(self.source.table.chosen(rows))
        return Block.joined(list(self.map_rows(partial(_taken, rows), self.n_jobs)))

    def load(self) -> Block:
        """Return all samples as one block."""
        if isinstance(self.source, Memory):
            return self._of(self.source.table)
        return Block.joined(list(self))

    def _of(self, chunk: Chunk) -> Block:
        """Return the block of rows in memory."""
        block = self._changed(self.read(chunk)[0])
        return Block(*(np.ascontiguousarray(array) for array in block))


@dataclass(frozen=True)
class _Pass:
    """Applies a function to every block of a chunk; an object, so that it can be sent.

    With ``step``, rows whose number is a multiple of it are kept in a summary.
    """

    read: Read
    changes: tuple[Callable[[Block], Block], ...]
    function: Callable[[Block, Indices], Any]
    rows: int
    step: int | None
    added: bool

    def __call__(self, chunk: Chunk) -> tuple[list[Any], Summary | None]:
        answers: list[Any] = []
        summary = None
        for start in range(0, chunk.n_rows, self.rows):
            part = chunk.rows(start, start + self.rows)
            block, kept = self.read(part)
            numbers = part.first + kept
            if self.step is not None:
                counted = part if len(kept) == part.n_rows else part.chosen(kept)
                chosen = numbers % self.step == 0
                some, end = block.rows(chosen), part.first + part.n_rows
                found = Summary.of(counted, end, self.step, numbers[chosen], some)
                summary = found if summary is None else summary.plus(found)
            if not len(kept):
                continue
            for change in self.changes:
                block = change(block)
            answers.append(self.function(block, numbers))
            if self.added and len(answers) == 2:
                answers = [plus(*answers)]
        return answers, summary


def plus(one: Any, other: Any) -> Any:
    """Add up two answers: numbers, arrays, or tuples of them."""
    if isinstance(one, tuple):
        return tuple(plus(*pair) for pair in zip(one, other, strict=True))
    return one + other


def _scaled(factor: float, block: Block) -> Block:
    return block._replace(weights=block.weights * factor)


def _taken(drawn: Indices, block: Block, rows: Indices) -> Block:
    """Return the samples of a block whose numbers were drawn, which are sorted."""
    return block.rows(np.isin(rows, drawn[slice(*np.searchsorted(drawn, [rows[0], rows[-1] + 1]))]))
