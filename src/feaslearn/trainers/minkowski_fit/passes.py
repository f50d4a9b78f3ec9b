"""What the fit of a Minkowski sum reads of the samples: passes over them, wherever they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

import numpy as np

from feaslearn.arrays import Array, Indices
from feaslearn.data import BLOCK_ROWS, Block, Samples
from feaslearn.data.checks import column_ends
from feaslearn.hypotheses.minkowski import Minkowski
from feaslearn.runs import Run, one_blas_thread
from feaslearn.trainers.minkowski_fit.block_moments import BlockMoments, Piece
from feaslearn.trainers.minkowski_fit.moments import Moments, Units
from feaslearn.trainers.out_of_fold import folds_of

Answer = TypeVar("Answer")
#: Makes new weights of the pieces of a block.
Reweigh = Callable[[Piece], Array]

#: Samples whose features say where knots are, where they cannot all be looked at together.
MOST_FOR_KNOTS = 100_000


class Sums(NamedTuple):
    """What one pass over the samples brings: moments of each fold, least and greatest features."""

    folds: list[Moments]
    low: Array
    high: Array


class Passes:
    """Minimisers of the terms, functions of the scales, standardised features and decisions."""

    def __init__(
        self, hypothesis: Minkowski, samples: Samples, n_jobs: int = 1, run: Run | None = None
    ) -> None:
        self._run = run or Run()
        self.hypothesis, self.samples, self._n_jobs = hypothesis, samples, n_jobs
        self.share = 1.0
        self.first = first = samples.spread()
        self.n, self.k = first.decisions.shape[1], first.features.shape[1]
        self.exact = len(first.weights) == samples.n_rows
        units = Units.of(first, bool(hypothesis.offset), self.exact)
        basis, knots = hypothesis.basis(self.k), None
        if basis.knotted:
            # Of all samples, or of so many that their quantiles are known.
            drawn = samples.draw(MOST_FOR_KNOTS, np.random.default_rng(0))
            knots = basis.place_knots(drawn.features, drawn.decisions)
        self.of = BlockMoments(hypothesis, self.n, self.k, units, knots)
        self.basis, self.shape, self.minimizers = basis, self.of.shape, self.of.minimizers

    def sums(self, folds: Folds, reweigh: Reweigh | None = None) -> Sums:
        """Go through all samples once; `OutOfTime` is raised where there is no time for that."""
        parts = dict[int, Moments]()
        low, high = np.full(self.k, np.inf), np.full(self.k, -np.inf)
        of, late = self.of, self._run.check_time

        def work(block: Block, rows: Indices) -> tuple[list[tuple[int, Moments]], Array, Array]:
            with one_blas_thread():  # on a cluster this is another process
                if reweigh is not None:
                    factors = np.concatenate([reweigh(piece) for piece in of.pieces(block)])
                    block = block._replace(weights=block.weights * factors)
                found = [(f, of.of(part, late)) for f, part in _by_fold(block, folds.of(rows))]
                return found, *column_ends(block.features)

        for found, least, greatest in self.samples.map_rows(work, self._n_jobs, rows=FOLD_ROWS):
            for fold, moments in found:
                before = parts.get(fold)
                parts[fold] = moments if before is None else Moments.total([before, moments])
            low, high = np.minimum(low, least), np.maximum(high, greatest)
            self._run.check_time()
        return Sums([parts[fold] for fold in sorted(parts)], low, high)

    def settle(self, sums: Sums) -> Sums:
        """Return sums in the units of all samples, and keep those units; chunks weigh one then."""
        total = Moments.total(sums.folds)
        split, before = self.of.split, self.of.units
        if not self.samples.in_memory:
            # How much all weights are together is known now, after the pass.
            self.share = 1.0 / total.weight
        folds = [fold.scaled(self.share) for fold in sums.folds]
        if not self.exact:
            after = total.own_units(before, split)
            folds = [fold.in_units(before, after, split) for fold in folds]
            self.of = self.of.in_units(after)
        units = self.of.units
        return Sums(folds, *(units.apply(end[None])[0] for end in sums[1:]))

    def each(
        self, function: Callable[[Block], Answer], features_only: bool = False
    ) -> Iterator[Answer]:
        """Yield what ``function`` makes of each block: one pass."""
        return self.samples.map(function, self._n_jobs, features_only=features_only)

    def squared_errors(self, a: Array, b: Array) -> float:
        """Return the weighted sum of squared errors, from the samples themselves."""
        of = self.of

        def one(block: Block) -> float:
            rows = [piece.rows for piece in of.pieces(block)]
            return sum(float(part.weights @ (part.errors(a, b) ** 2).sum(axis=1)) for part in rows)

        return self.share * sum(self.each(one))


def _by_fold(block: Block, fold: Indices) -> Iterator[tuple[int, Block]]:
    """Yield each fold with its samples; a block of one fold is not copied."""
    for f in np.unique(fold):
        chosen = fold == f
        yield int(f), block if chosen.all() else block.rows(chosen)


# Which fold of a cross-validation a sample belongs to.


#: Of more samples than this, runs of rows are folds: to choose from each block takes longer.
MOST_DRAWN, FOLD_ROWS = 40 * BLOCK_ROWS, 8 * BLOCK_ROWS


class Folds(NamedTuple):
    """Folds of samples that are known by their numbers alone."""

    n_folds: int
    drawn: Indices | None

    @classmethod
    def draw(
        cls,
        samples: Samples,
        n_folds: int,
        random: np.random.Generator,
        between: Callable[[], object] | None = None,
    ) -> Folds:
        """Divide samples into folds at random, equal ones together, or many of them by turns."""
        if n_folds > 1 and samples.n_rows is None:
            samples.summary(between)
        total = samples.n_rows
        if n_folds == 1 or total is None or total >= MOST_DRAWN:
            return cls(n_folds, None)
        parts = list(samples.map_rows(lambda block, rows: (block, rows)))
        drawn = np.zeros(total, dtype=np.intp)
        drawn[np.concatenate([rows for _, rows in parts])] = folds_of(
            [part for part, _ in parts], n_folds, random
        )
        return cls(n_folds, drawn)

    def of(self, rows: Indices) -> Indices:
        """Return the fold of each of some samples."""
        if self.drawn is not None:
            return np.asarray(self.drawn[rows])
        return np.asarray((rows // FOLD_ROWS) % self.n_folds)
