"""Check of a loss: what the trainers rely on, on random data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from feaslearn.arrays import Array
from feaslearn.checks.cases import Find, lost_in_a_clone, raise_findings, violating
from feaslearn.checks.gradient import check_gradient
from feaslearn.data import Block
from feaslearn.exceptions import CheckError
from feaslearn.hypotheses import Affine, Hypothesis, MapHypothesis, Minkowski, Scaled
from feaslearn.losses import Loss
from feaslearn.sets import Box, L2Ball, Simplex
from feaslearn.tolerances import ACCEPT_TOL

N_DECISIONS, N_FEATURES = 2, 3

#: Properties by name, each with what looks for cases that violate it.
PROPERTIES: dict[str, Find] = {
    "parameters survive a clone": lambda cases: lost_in_a_clone(cases.loss)
}


class LossCases(NamedTuple):
    """A loss, the images it is tried on, and these and others with parameters and samples."""

    loss: Loss
    hypotheses: Sequence[MapHypothesis]
    cases: Sequence[tuple[Hypothesis, Array, Block]]


def _draw(
    hypothesis: Hypothesis, n: int, rng: np.random.Generator
) -> tuple[Hypothesis, Array, Block]:
    theta = np.abs(rng.normal(size=hypothesis.layout(N_DECISIONS, N_FEATURES).size))
    features = np.column_stack([np.ones(n), rng.uniform(size=(n, N_FEATURES - 1))])
    costs, decisions = rng.normal(size=(2, n, N_DECISIONS))
    return hypothesis, theta, Block(features, costs, decisions, rng.uniform(0.5, 2.0, size=n))


def check_loss(
    loss: Loss,
    hypotheses: Sequence[MapHypothesis] | None = None,
    *,
    random_state: int = 0,
    n_cases: int = 20,
) -> None:
    r"""Check that a loss keeps every promise that the trainers rely on.

    It is a number of at least zero for each sample; zero where the decision is the one of least
    cost; a sum :math:`\sum_i w_i \ell_\theta(x_i, s_i)` with the gradient that differences give;
    and blind to decisions that were not observed.

    Parameters
    ----------
    loss : Loss
        The loss.
    hypotheses : sequence of MapHypothesis, default=None
        The affine images it is tried on, of two decisions; default a simplex, a box, a ball and a
        box that is only scaled.
    random_state : int, default=0
        Seed of the random parameters and samples.
    n_cases : int, default=20
        How many samples for each hypothesis.

    Raises
    ------
    CheckError
        If a property is violated. The error lists all that are, each with a case that shows it.

    See Also
    --------
    check_gradient : The gradient alone, with its largest error.
    check_primitive_set : The same for a primitive set.

    Examples
    --------
    >>> from feaslearn import Predictability
    >>> from feaslearn.checks import check_loss
    >>> check_loss(Predictability("l1"))

    A loss that forgets the weights of the samples:

    >>> class Careless(Predictability):
    ...     def value_and_gradient(self, hypothesis, theta, block):
    ...         value, gradient = super().value_and_gradient(hypothesis, theta, block)
    ...         return value / block.weights.mean(), gradient
    >>> check_loss(Careless())
    Traceback (most recent call last):
    ...
    feaslearn.exceptions.CheckError: Careless():
      - the value is the weighted sum over samples: ...
    """
    if hypotheses is None:
        hypotheses = [Affine(Simplex(3)), Affine(Box(2)), Affine(L2Ball(2)), Scaled(Box(2))]
    rng = np.random.default_rng(random_state)
    # The last region is no image of a single set.
    cases = [_draw(each, n_cases, rng) for each in (*hypotheses, Minkowski.box(N_DECISIONS))]
    raise_findings(loss, PROPERTIES, LossCases(loss, hypotheses, cases))


@violating(PROPERTIES, "every sample has a loss of at least zero")
def _numbers(cases: LossCases) -> Iterator[str]:
    for hypothesis, theta, block in cases.cases:
        values = np.asarray(cases.loss.samples(hypothesis, theta, block))
        if values.shape != block.weights.shape:
            yield f"{len(block.weights)} samples of {hypothesis!r} give shape {values.shape}"
        elif not (values >= 0.0).all() or not np.isfinite(values).all():
            yield f"{hypothesis!r}: a sample has {values[~(values >= 0.0)][:1]}"


@violating(PROPERTIES, "the decision of least cost loses nothing")
def _zero_at_the_optimum(cases: LossCases) -> Iterator[str]:
    for hypothesis, theta, block in cases.cases:
        best = hypothesis.predict(theta, block.features, block.costs)
        values = cases.loss.samples(hypothesis, theta, block._replace(decisions=best))
        if values.max() > ACCEPT_TOL:
            yield f"{hypothesis!r}: the decision of least cost loses {values.max():.3g}"


@violating(PROPERTIES, "the value is the weighted sum over samples")
def _weighted_sum(cases: LossCases) -> Iterator[str]:
    for hypothesis, theta, block in cases.cases:
        maps = hypothesis.as_maps()
        if maps is None:
            continue
        total = float(block.weights @ cases.loss.samples(hypothesis, theta, block))
        value, gradient = cases.loss.value_and_gradient(maps, theta, block)
        if abs(value - total) > ACCEPT_TOL * max(1.0, abs(total)):
            yield f"{hypothesis!r}: {value:.6g}, but samples add up to {total:.6g}"
        halves = [
            cases.loss.value_and_gradient(maps, theta, block.rows(half))[1]
            for half in (block.weights < 1.0, block.weights >= 1.0)
        ]
        largest = max(1.0, float(np.abs(gradient).max()))
        if np.abs(halves[0] + halves[1] - gradient).max() > ACCEPT_TOL * largest:
            yield f"{hypothesis!r}: the gradients of two halves do not add up to that of both"


@violating(PROPERTIES, "decisions that were not observed do not count")
def _blind(cases: LossCases) -> Iterator[str]:
    for hypothesis, theta, block in cases.cases:
        unseen = block._replace(decisions=np.full_like(block.decisions, np.nan))
        values = cases.loss.samples(hypothesis, theta, unseen)
        if not np.abs(values).max() <= ACCEPT_TOL:
            yield f"{hypothesis!r}: a sample without any decision has {np.nanmax(values):.3g}"


@violating(PROPERTIES, "the gradient is that of the value")
def _gradients(cases: LossCases) -> Iterator[str]:
    for hypothesis in cases.hypotheses:
        try:
            check_gradient(cases.loss, hypothesis, n_cases=4)
        except CheckError as error:
            yield str(error)
