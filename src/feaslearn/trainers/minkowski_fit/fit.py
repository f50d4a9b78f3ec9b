"""Squared predictability of a Minkowski sum whose minimisers are unique."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard
from feaslearn.hypotheses.minkowski import Minkowski
from feaslearn.runs import Clock
from feaslearn.runs.memory import check_memory
from feaslearn.trainers.minkowski_fit.moments import Moments
from feaslearn.trainers.minkowski_fit.penalized import Answer, Penalized, Strengths
from feaslearn.trainers.minkowski_fit.samples import Samples
from feaslearn.trainers.minkowski_fit.scale_cone import ScaleCone
from feaslearn.trainers.sample_order import folds_of

Array = NDArray[np.float64]

#: From this many shards on, whole shards are folds: cutting each into pieces takes longer.
SHARDS_AS_FOLDS = 40
#: A scale below this share of the spread of the decisions is none.
VISIBLE = 1e-6
#: Observed values for each parameter from which on penalties are not tried.
PLENTY = 10_000
#: Coefficients that move by less than this share have settled.
SETTLED = 1e-8
#: A loss below this share of the decisions' moment is not taken from the moments.
ROUNDED = 1e-6
#: A loss below this share of the decisions' moment is rounding.
EXACT = 1e-14
#: Errors beyond this many times the usual one count linearly (Huber), and how often they are
#: measured again.
USUAL, MAX_REWEIGHTED = 1.345, 50


class Fitted(NamedTuple):
    """Parameters, their loss, the least loss of the class where it is known, and how."""

    theta: Array
    loss: float
    bound: float | None
    strengths: Strengths
    rounds: int
    details: dict[str, float]


class MinkowskiFit:
    r"""Least squares of decisions on :math:`\sum_t \alpha_t(s) E_t z_t^*(c) + b(s)`.

    One pass over the samples makes the moments of every fold. All fits are small problems in the
    moments, each ended by a look at all rows for negative scales.

    Parameters
    ----------
    hypothesis : Minkowski
        The terms.
    shards : sequence of Shard
        The samples.
    n_folds : int
        Folds of the cross-validation.
    random : numpy.random.Generator
        Divides the samples into folds.
    """

    def __init__(
        self,
        hypothesis: Minkowski,
        shards: Sequence[Shard],
        n_folds: int,
        random: np.random.Generator,
    ) -> None:
        _check_size(hypothesis, shards, n_folds)
        self.samples = Samples(hypothesis, shards)
        self._folds = _divide(shards, n_folds, random)
        basis = self.samples.basis
        cone = ScaleCone(self.samples.parts, self.samples.shape[0], basis.nonnegative)
        one = np.zeros(basis.size)
        one[: basis.knots_shape[0] if basis.knotted else 1] = 1.0
        self.problem = Penalized(cone, one, self.samples.mean_psi())

    @cached_property
    def _moments(self) -> list[Moments]:
        return self.samples.fold_moments(self._folds)

    @cached_property
    def moments(self) -> Moments:
        """The moments of all samples."""
        return Moments.total(self._moments)

    @property
    def n_tied(self) -> int:
        """Number of samples for which a term has several minimisers."""
        _ = self.moments
        return sum(int(tied.any(axis=1).sum()) for tied in self.samples.tied if tied.any())

    def solve(
        self,
        ridge: float | str,
        sparsity: float | str,
        robust: bool = False,
        clock: Clock | None = None,
    ) -> Fitted:
        """Return the optimum, for strengths given or chosen ("auto")."""
        self._clock = Clock() if clock is None else clock
        reduced = self.moments.reduced()
        plain = self.problem.solve(reduced, Strengths(0.0, 0.0))
        bound, strengths, details = self._loss(plain), Strengths(0.0, 0.0), {}
        if not self._determined(bound, ridge, sparsity):
            strengths = self.problem.choose(self._moments, ridge, sparsity, self._clock)
        answer = self.problem.solve(reduced, strengths) if max(strengths) > 0.0 else plain
        if robust:
            strengths, answer, anomalous = self._reweighted(ridge, sparsity, strengths, answer)
            details["samples that count less than half"] = float(anomalous)
        theta = self.samples.theta(answer.a, answer.b)
        loss = self._loss(answer) if answer is not plain else bound
        details |= {"KKT residual": answer.residual, **strengths._asdict(), **self.used(theta)}
        return Fitted(theta, loss, min(bound, loss), strengths, answer.rounds, details)

    def _determined(self, loss: float, ridge: float | str, sparsity: float | str) -> bool:
        """Say whether nothing is to be held small.

        That is so where the class explains the data without error, though it could not any data:
        a fold that leaves out the only row of its kind must not persuade us otherwise. And where
        so many values were observed for each parameter that no strength changes anything.
        """
        observed = sum(int((~np.isnan(shard.decisions)).sum()) for shard in self.samples.shards)
        size = self.moments.ra.size + self.moments.rb.size
        small = loss <= EXACT * self.moments.xx and observed >= 2 * size
        return (small or observed >= PLENTY * size) and ridge == "auto" and sparsity == "auto"

    def used(self, theta: Array) -> dict[str, float]:
        """Count the terms with a scale, and the scales that predictions clip."""
        samples = self.samples
        if not samples.minimizers.count:
            return {}
        largest, clipped = np.zeros(samples.minimizers.count), 0
        for shard in samples.shards:
            scales = samples.hypothesis.unclipped_scales(theta, shard.features, samples.n)
            scales = np.ascontiguousarray(scales.T)
            largest = np.maximum(largest, scales.max(axis=1))
            clipped += int((scales < 0.0).sum())
        return {
            "terms": float(len(largest)),
            "terms with a scale": float((largest > VISIBLE * samples.spread()).sum()),
            "scales clipped at 0 on training rows": float(clipped),
        }

    def _loss(self, answer: Answer) -> float:
        """Return the loss: from the moments, unless it is so small that they hold only rounding."""
        value = self.moments.value(answer.a, answer.b)
        if value > ROUNDED * self.moments.xx:
            return value
        return sum(
            float(
                rows.weights
                @ (np.nan_to_num(rows.predict(*answer[:2]) - rows.decisions) ** 2).sum(1)
            )
            for _, _, rows in self.samples.rows()
        )

    def _reweighted(
        self, ridge: float | str, sparsity: float | str, strengths: Strengths, answer: Answer
    ) -> tuple[Strengths, Answer, int]:
        """Fit again with less weight on samples of unusual error, until the weights stay.

        The strengths are chosen once more when they did: anomalies ask for stronger ones.
        """
        factors = self._factors(answer)
        for again in (False, True):
            folds = self.samples.fold_moments(self._folds, factors)
            if again:
                strengths = self.problem.choose(folds, ridge, sparsity, self._clock)
            for _ in range(MAX_REWEIGHTED):
                last, answer = answer, self.problem.solve(Moments.total(folds).reduced(), strengths)
                factors = self._factors(answer)
                if _close(last, answer) or self._clock.out():
                    break
                folds = self.samples.fold_moments(self._folds, factors)
        return strengths, answer, sum(int((part < 0.5).sum()) for part in factors)

    def _factors(self, answer: Answer) -> list[Array]:
        """Return the weight of each sample relative to what it was."""
        errors = [np.zeros(len(shard.weights)) for shard in self.samples.shards]
        for i, place, rows in self.samples.rows():
            errors[i][place] = np.linalg.norm(
                np.nan_to_num(rows.predict(*answer[:2]) - rows.decisions), axis=1
            )
        usual = USUAL * float(np.median(np.concatenate(errors)))
        return [usual / np.maximum(part, usual) if usual > 0.0 else 0 * part + 1 for part in errors]


def _check_size(hypothesis: Minkowski, shards: Sequence[Shard], n_folds: int) -> None:
    """Refuse terms whose moments would not fit into memory."""
    n, k = shards[0].decisions.shape[1], shards[0].features.shape[1]
    terms, functions = len(hypothesis.terms_of(n)), hypothesis.basis(k).size
    groups = 1 if hypothesis.scale == "shared" else terms
    check_memory(
        (n_folds + 4.0) * (groups * functions) ** 2,
        f"the moments of {terms} terms with {functions} coefficients each, in {n_folds} folds,",
        "use fewer terms or features, Minkowski(..., scale='constant'), or strengths that are "
        "given: Convex(ridge=..., sparsity=...)",
    )


def _close(one: Answer, other: Answer) -> bool:
    """Say whether two answers are the same but for a small share of their size."""
    pairs = ((one.a, other.a), (one.b, other.b))
    moved = max(float(np.abs(x - y).max(initial=0.0)) for x, y in pairs)
    return moved <= SETTLED * max(float(np.abs(y).max(initial=0.0)) for _, y in pairs)


def _divide(
    shards: Sequence[Shard], n_folds: int, random: np.random.Generator
) -> list[NDArray[np.intp]]:
    """Return the fold of every row of every shard."""
    sizes = [len(shard.weights) for shard in shards]
    if n_folds == 1 or len(sizes) >= SHARDS_AS_FOLDS:
        return [np.full(size, i % n_folds, dtype=np.intp) for i, size in enumerate(sizes)]
    fold = folds_of(shards, n_folds, random)
    return [np.asarray(part, dtype=np.intp) for part in np.split(fold, np.cumsum(sizes)[:-1])]
