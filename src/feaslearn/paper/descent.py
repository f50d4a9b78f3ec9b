r"""What Algorithms 1 and 2 share: starts, standardised features, Armijo's rule, the best iterate.

Features are standardised, so that units and offsets of signals do not matter, and starts lie around
the linear policy :math:`\hat x(s) = \sum_k \phi_k \beta_k` of least squares. The paper begins at
random and returns the last iterate. Here the iterate is returned that is best by
`Problem.measured_by`: of the paper's losses only the total at a fixed smoothing falls in every
step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.exceptions import DataError, SolverError
from feaslearn.paper.problem import Clock, Found, OutOfTime, Problem, Status
from feaslearn.paper.regions.maps import Maps
from feaslearn.tolerances import LSTSQ_TOL, ROUNDING

#: Share of the predicted decrease that a step must keep (Armijo's rule).
SUFFICIENT = 1e-4
#: The first step moves the parameters by this share of their length: a longer one can throw all
#: columns but one out of reach for good.
FIRST_STEP = 0.1
#: A step that was halved this often and still does not help never will.
HALVINGS = 60

Evaluated = TypeVar("Evaluated")


@dataclass(frozen=True)
class Iterate:
    """Where a search stands.

    ``value`` is what the method descends on and ``gradient`` its gradient, ``loss`` the training
    loss, ``first`` the value at the start, ``step`` the size that the next step tries.
    ``finished`` is None until the method itself ends the search; ``record`` is for the history.
    """

    theta: Array
    value: float
    gradient: Array
    loss: float
    first: float
    step: float | None = None
    finished: Status | None = None
    record: dict[str, Any] = field(default_factory=dict)


class Method(Protocol):
    """How a search begins at some parameters, and how it goes on."""

    def begin(self, theta: Array) -> Any:
        """Return the first iterate."""
        ...

    def step(self, iterate: Any) -> Any:
        """Return the next iterate."""
        ...


def search(
    problem: Problem,
    method: Callable[[Problem], Method],
    *,
    start: Start | ArrayLike | None,
    n_starts: int,
    max_iter: int,
    seed: int | np.random.Generator,
    clock: Clock,
) -> Found:
    """Run a method from every start, in standardised features; return the best iterate of all."""
    if n_starts < 1 or max_iter < 0:
        raise DataError(f"n_starts={n_starts} and max_iter={max_iter} must be at least 1 and 0")
    if problem.region.integer_parameters:
        raise DataError(f"{problem.region!r} has integers in it, and no gradient")
    into = Standardization.of(problem)
    standard = into.apply(problem)
    best, runs = Run(), []
    for index, own in enumerate(np.random.default_rng(seed).integers(2**63, size=n_starts)):
        theta = begin_at(problem, into, start, np.random.default_rng(own), index)
        run = Run()
        run.follow(standard, into, method(standard), theta, max_iter, clock)
        runs.append(run)
        best = run if run.loss < best.loss else best
        if clock.late():
            break
    if best.theta is None:
        raise SolverError("no start has a finite loss: take a smaller step or another start")
    value = problem.value(best.theta)
    cut_short = runs[-1].out_of_time or len(runs) < n_starts
    status = clock.status if cut_short else best.status
    return Found(
        problem,
        best.theta,
        value,
        "optimal" if value == 0.0 and not cut_short else status,
        lower_bound=0.0 if value == 0.0 else None,
        n_iter=sum(run.steps for run in runs),
        seconds=clock.seconds,
        history=best.history,
    )


@dataclass
class Run:
    """What happened from one start, and the parameters of least loss on the way."""

    theta: Array | None = None
    loss: float = np.inf
    status: Status = "iteration limit"
    steps: int = 0
    out_of_time: bool = False
    history: list[dict[str, Any]] = field(default_factory=list)

    def follow(
        self,
        problem: Problem,
        into: Standardization,
        method: Method,
        theta: Array,
        max_iter: int,
        clock: Clock,
    ) -> None:
        """Iterate until something ends it; keep the best iterate, in the features as they are."""
        try:
            iterate = method.begin(theta)
            for i in range(max_iter + 1):
                self._offer(problem, into, iterate)
                clock.check()
                if iterate.finished is not None:
                    self.status = iterate.finished
                    break
                if i < max_iter:
                    iterate = method.step(iterate)
                    self.steps += 1
        except OutOfTime:
            self.status, self.out_of_time = clock.status, True
            if self.theta is None:
                value = problem.value(theta)
                self._offer(problem, into, Iterate(theta, value, theta, value, value))

    def _offer(self, problem: Problem, into: Standardization, iterate: Iterate) -> None:
        returned, theta = problem.returned_loss(iterate.theta), into.revert(problem, iterate.theta)
        record = {"objective": iterate.loss, "returned_loss": returned, "theta": theta}
        self.history.append(record | iterate.record)
        loss = problem.compared(iterate.loss, returned)
        if loss < self.loss:
            self.theta, self.loss = theta, loss


# Armijo's rule.


class Step(NamedTuple, Generic[Evaluated]):
    """An accepted step: new parameters, the size taken, and what was found there."""

    theta: Array
    value: float
    size: float
    found: Evaluated


class NoStep(NamedTuple):
    """No step helps; ``stationary`` if not even its direction is left in the class."""

    stationary: bool


def first_size(problem: Problem, theta: Array, gradient: Array) -> float:
    """Return the size of a first step along a gradient that is not zero."""
    # The length of the parameters is counted from the mean decision, so that moving all decisions
    # changes nothing.
    k, n = problem.n_features, problem.n_decisions
    seen = ~np.isnan(problem.samples.decisions)
    weight = problem.samples.weights @ seen
    total = problem.samples.weights @ np.where(seen, problem.samples.decisions, 0.0)
    mean = np.vstack([total / np.where(weight > 0.0, weight, 1.0), np.zeros((k - 1, n))])
    still = Maps(np.zeros((k, n, problem.region.Z.dimension)), mean)
    away = float(np.linalg.norm(theta - problem.region.theta_of(still))) or 1.0
    return FIRST_STEP * away / float(np.linalg.norm(gradient))


def backtrack(
    problem: Problem,
    iterate: Iterate,
    evaluate: Callable[[Array], tuple[float, Evaluated]],
    clock: Clock,
) -> Step[Evaluated] | NoStep:
    """Halve a gradient step until it keeps a share of the decrease it promises."""
    theta, gradient, region = iterate.theta, iterate.gradient, problem.region
    size = iterate.step or first_size(problem, theta, gradient)
    for halving in range(HALVINGS):
        # Back into the class, where the step leaves it: a scale is not negative.
        tried = region.theta_of(problem.maps(theta - size * gradient))
        promised = float(gradient @ (theta - tried))
        if promised <= 0.0:
            # Nowhere to go: from the start of the step, or because it has become too short.
            return NoStep(stationary=halving == 0)
        if halving:
            clock.check()
        reached, found = evaluate(tried)
        if reached <= iterate.value - SUFFICIENT * promised:
            return Step(tried, reached, size, found)
        size /= 2.0
    return NoStep(stationary=False)


# Standardised features.


def weighted_sum(table: Array, weights: Array) -> Array:
    """Return ``w'T``, the same for any number of threads; a threaded product is not."""
    return np.asarray((weights[:, None] * table).sum(axis=0))


@dataclass(frozen=True)
class Standardization:
    """Means and scales of the features; the constant keeps mean 0 and scale 1.

    A feature that never changes has an infinite scale: divided by it, the feature vanishes.
    """

    mean: Array
    scale: Array

    @classmethod
    def of_features(cls, features: Array, weights: Array) -> Standardization:
        """Measure features with weights."""
        total = float(weights.sum())
        mean = weighted_sum(features, weights) / total
        scale = np.sqrt(weighted_sum((features - mean) ** 2, weights) / total)
        scale = np.where(scale <= ROUNDING * np.abs(mean), np.inf, scale)
        mean[0], scale[0] = 0.0, 1.0
        return cls(mean, scale)

    @classmethod
    def of(cls, problem: Problem) -> Standardization:
        """Measure the features of a problem."""
        return cls.of_features(problem.samples.features, problem.samples.weights)

    def apply(self, problem: Problem) -> Problem:
        """Return the same problem in standardised features."""
        features = np.ascontiguousarray(problem.samples.features - self.mean)
        features /= self.scale
        return problem.with_samples(problem.samples._replace(features=features))

    def convert(self, problem: Problem, theta: Array) -> Array:
        """Return the parameters for standardised features, given those for the features."""
        A, b = problem.maps(theta)
        scale = np.where(np.isfinite(self.scale), self.scale, 0.0)
        level_A, level_b = np.tensordot(self.mean, A, axes=1), self.mean @ b
        A, b = A * scale[:, None, None], b * scale[:, None]
        A[0] += level_A
        b[0] += level_b
        return problem.region.theta_of(Maps(A, b))

    def revert(self, problem: Problem, theta: Array) -> Array:
        """Return the parameters for the features, given those for standardised ones."""
        A, b = problem.maps(theta)
        A, b = A / self.scale[:, None, None], b / self.scale[:, None]
        A[0] -= np.tensordot(self.mean, A, axes=1)
        b[0] -= self.mean @ b
        return problem.region.theta_of(Maps(A, b))


# Starts.


#: From a problem in standardised features, the randomness of this start alone and its index (0 for
#: the first) to the parameters where it begins, for these features.
Start = Callable[[Problem, np.random.Generator, int], Array]

#: Noise on all starts but the first at given parameters, in units of their root mean square.
GIVEN_NOISE = 0.1


def linear_start(problem: Problem, random: np.random.Generator, index: int) -> Array:
    """Return the linear policy with noise on the columns; the first start has a tenth of it.

    The centre of Z is mapped to the policy, and each column is moved from it by Gaussian noise of
    the spread of the policy's residuals.

    Parameters
    ----------
    problem : Problem
        The problem, in standardised features.
    random : numpy.random.Generator
        The randomness of this start alone.
    index : int
        Which start it is, 0 for the first.

    Returns
    -------
    ndarray
        Parameters for these features.

    Examples
    --------
    >>> import feaslearn.paper as paper
    >>> from feaslearn import Simplex
    >>> data = paper.Data([[0.2], [0.8]], [[1, 0], [0, 1]], [[0.2, 0.8], [0.8, 0.2]], [0])
    >>> problem = paper.Problem.of(paper.Affine(Simplex(2)), data)
    >>> paper.linear_start(problem, np.random.default_rng(0), 0).shape
    (4,)
    """
    features, _, decisions, weights = problem.samples
    beta = least_squares(features, decisions, weights)
    residuals = np.nan_to_num(decisions - features @ beta)
    spread = np.sqrt(weighted_sum(residuals**2, weights) / weights.sum())
    noise = 1.0 if index else 0.1
    A = noise * random.standard_normal((*beta.shape, problem.region.Z.dimension))
    return around(problem, A * spread[:, None], beta)


def random_start(problem: Problem, random: np.random.Generator, index: int) -> Array:
    """Return random columns around the mean decision, of the spread of each decision.

    Parameters
    ----------
    problem : Problem
        The problem, in standardised features.
    random : numpy.random.Generator
        The randomness of this start alone.
    index : int
        Which start it is, 0 for the first.

    Returns
    -------
    ndarray
        Parameters for these features.

    Examples
    --------
    >>> import feaslearn.paper as paper
    >>> from feaslearn import Simplex
    >>> data = paper.Data([[0.2], [0.8]], [[1, 0], [0, 1]], [[0.2, 0.8], [0.8, 0.2]], [0])
    >>> problem = paper.Problem.of(paper.Affine(Simplex(2)), data)
    >>> paper.random_start(problem, np.random.default_rng(0), 0).shape
    (4,)
    """
    del index
    features, _, decisions, weights = problem.samples
    mean = least_squares(features[:, :1], decisions, weights)
    deviations = np.nan_to_num(decisions - mean)
    spread = np.sqrt(weighted_sum(deviations**2, weights) / weights.sum())
    k, n = problem.n_features, problem.n_decisions
    A = random.standard_normal((k, n, problem.region.Z.dimension)) * spread[:, None]
    return around(problem, A, np.vstack([mean, np.zeros((k - 1, n))]))


def around(problem: Problem, A: Array, beta: Array) -> Array:
    """Return parameters with maps ``A`` (k, n, p) that send the centre of Z to a policy (k, n)."""
    region, (k, n) = problem.region, beta.shape
    for candidate in (A, -A):
        # The class may not hold A itself: a scale that is not negative cuts one of the two to 0.
        kept = region.maps(region.theta_of(Maps(candidate, np.zeros((k, n)))), n, k).A
        if kept.any():
            break
    return region.theta_of(Maps(kept, beta - kept @ region.Z.center()))


def least_squares(features: Array, targets: Array, weights: Array) -> Array:
    """Return the coefficients (k, n) of weighted least squares; NaN targets do not count.

    Of dependent features, the solution of least norm in standardised ones: units do not matter,
    and a feature that never changed has no effect.
    """
    beta = np.zeros((features.shape[1], targets.shape[1]))
    seen = ~np.isnan(targets)
    for rows in np.unique(seen, axis=1).T:
        columns = np.flatnonzero((rows == seen.T).all(axis=1))
        if rows.any():
            beta[:, columns] = _complete(features[rows], targets[rows][:, columns], weights[rows])
    return beta


def _complete(features: Array, targets: Array, weights: Array) -> Array:
    """Regress targets that were all observed."""
    units = Standardization.of_features(features, weights)
    level = weighted_sum(targets, weights) / weights.sum()
    roots = np.sqrt(weights)[:, None]
    centered = (features - units.mean)[:, 1:] / units.scale[1:] * roots
    slope = np.linalg.lstsq(centered, (targets - level) * roots, rcond=LSTSQ_TOL)[0]
    slope = slope / units.scale[1:, None]
    return np.vstack([level - units.mean[1:] @ slope, slope])


def begin_at(
    problem: Problem,
    into: Standardization,
    start: Start | ArrayLike | None,
    random: np.random.Generator,
    index: int,
) -> Array:
    """Return the parameters of one start, for standardised features."""
    if start is None or callable(start):
        return (start or linear_start)(into.apply(problem), random, index)
    theta = np.array(start, dtype=float)
    if theta.shape != (problem.size,) or not np.isfinite(theta).all():
        raise DataError(f"start has shape {theta.shape}; expected {problem.size} finite numbers")
    if index:
        theta += GIVEN_NOISE * np.sqrt(np.mean(theta**2)) * random.standard_normal(theta.shape)
    return into.convert(problem, theta)
