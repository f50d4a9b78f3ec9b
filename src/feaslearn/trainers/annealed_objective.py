"""The annealed objective, its ridge, and a polish on the exact loss."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple, cast

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from feaslearn.arrays import Array
from feaslearn.data import Block
from feaslearn.hypotheses.affine import Maps
from feaslearn.runs import OutOfTime, Run
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.solvers.oracle_kernels import SetCode
from feaslearn.tolerances import CONVERGED_TOL, LSTSQ_TOL, SAME_TOL
from feaslearn.trainers.annealed_kernels import annealed_rows
from feaslearn.trainers.objective import Objective
from feaslearn.trainers.starts import Policy

#: The ridge on the constant parts of the maps, relative to the one on the parts that depend on
#: the signal: columns must move apart, but they need not all have slopes of their own.
CONSTANT_SHARE = 0.2


class Ridge(NamedTuple):
    r"""The penalty :math:`\lambda \sum_j w_j \|u_j'(\theta - \theta_0)\|^2`.

    The directions :math:`u_j` of the standardised features are those in which the linear policy
    has slopes :math:`\sigma_j`, its singular values. With :math:`\kappa` = ``floor``,

    .. math:: w_j = 1 / (\kappa + (1 - \kappa) \sigma_j^2 / \sigma_1^2)

    so 1 treats all directions alike, and near 0 a column may only respond to what the decisions
    respond to on the whole, such as the total of many demands.
    """

    strength: float
    floor: float = 1.0

    def metric(self, beta: Array) -> Array:
        """Return the matrix (k, k) of the penalty, for a policy (k, n) whose constant is first."""
        k = len(beta)
        metric = np.zeros((k, k))
        metric[0, 0] = CONSTANT_SHARE
        slopes = beta[1:]
        if slopes.size:
            directions, sizes, _ = np.linalg.svd(slopes, full_matrices=True)
            shares = np.zeros(k - 1)
            shares[: len(sizes)] = (sizes / (sizes.max() or 1.0)) ** 2
            weights = 1.0 / (self.floor + (1.0 - self.floor) * shares)
            metric[1:, 1:] = (directions * weights) @ directions.T
        return self.strength * metric


# The objective of annealing: a smooth stand-in for the loss, and a ridge toward a policy.


class AnnealedObjective:
    r"""The objective :math:`\sum_i w_i \|A_i z_\tau(A_i'c_i) + b_i - x_i\|^2 + \lambda \|\theta -
    \theta_0\|_W^2`.

    The smooth minimiser :math:`z_\tau` tends to the minimiser over Z as the temperature falls, see
    `soft_argmin`. :math:`\theta_0` is the linear policy: every point of Z is mapped to it.
    Temperatures are relative to the residuals of that policy, with costs of length one.
    """

    def __init__(self, objective: Objective, policy: Policy, ridge: Ridge) -> None:
        code = objective.affine().latent(objective.n_decisions).code()
        # Annealing refuses other sets.
        self.objective, self._code = objective, cast(SetCode, code)
        #: Root mean square of the policy's residuals; zero where there are only rounding errors.
        self.scale = float(np.sqrt((policy.spread**2).sum()))
        self._determined = objective.size < objective.n_observed
        size = np.sqrt(objective.samples.sum(_square, objective.n_jobs))
        if self.scale <= CONVERGED_TOL * size:
            self.scale = 0.0
        k, n = policy.beta.shape
        hypothesis = objective.affine()
        p = hypothesis.latent(n).dimension
        self._shape = (k, n, p)
        self.center = hypothesis.theta_of(Maps(np.zeros((k, n, p)), policy.beta))
        #: The matrix of the ridge over the features.
        self.metric = ridge.metric(policy.beta)

    def evaluate(self, theta: Array, temperature: float) -> tuple[float, Array]:
        """Return value and gradient at one temperature, relative to the residuals' size."""
        tau, code, shape = temperature * self.scale, self._code, self._shape
        A, b = _blocks(theta, shape)

        def one(block: Block) -> tuple[float, Array]:
            slope = np.zeros(len(theta))
            dA, db = _blocks(slope, shape)
            return annealed_rows(code, A, b, *block, tau, dA, db), slope

        return self._with_ridge(theta, *self.objective.samples.sum(one, self.objective.n_jobs))

    def _with_ridge(self, theta: Array, value: float, slope: Array) -> tuple[float, Array]:
        away = theta - self.center
        pull = self._pull(away)
        return value + float(pull @ away), slope + 2.0 * pull

    def _pull(self, away: Array) -> Array:
        """Return the product of the ridge's matrix with parameters."""
        k, n, p = self._shape
        parts = (away[: k * n * p], away[k * n * p :])
        pulled = [(self.metric @ part.reshape(k, -1)).ravel() for part in parts if len(part)]
        return np.concatenate(pulled) if len(pulled) > 1 else pulled[0]

    def without_ridge(self) -> AnnealedObjective:
        """Return the same objective without the ridge."""
        other = copy(self)
        other.metric = np.zeros_like(self.metric)
        return other

    def explained(self, theta: Array) -> bool:
        """Whether the parameters, fewer than the data, explain every sample to rounding."""
        # That is no accident: such parameters need no ridge.
        if not self._determined:
            return False
        return self.objective.value(theta) <= (CONVERGED_TOL * self.scale) ** 2

    def penalty(self, theta: Array) -> float:
        """Return the ridge alone."""
        away = theta - self.center
        return float(self._pull(away) @ away)

    def merit(self, theta: Array) -> float:
        """Return what fits are compared by: the loss of returned decisions, and the ridge."""
        return self.objective.value(theta) + self.penalty(theta)

    def descend(
        self, theta: Array, temperature: float, max_iter: int, tol: float
    ) -> tuple[Array, float, int]:
        """Take quasi-Newton steps at one temperature."""

        # Its first step and its tolerance are absolute: both get the size of the residuals.
        unit = self.scale or 1.0
        loss_unit = unit**2

        def evaluate(point: Array) -> tuple[float, Array]:
            found = self.evaluate(unit * point, temperature)
            return found[0] / loss_unit, found[1] * (unit / loss_unit)

        found = quasi_newton(
            evaluate,
            theta / unit,
            self.objective.run,
            maxiter=max_iter,
            ftol=float(tol),
            gtol=0.0,
        )
        return unit * found.x, loss_unit * float(found.fun), int(found.nit)


def quasi_newton(
    evaluate: Callable[[Array], tuple[float, Array]],
    start: Array,
    run: Run,
    **options: Any,
) -> Any:
    """Minimise by L-BFGS-B until the deadline."""

    def step(xk: Array) -> None:  # noqa: ARG001 (SciPy asks for the name)
        if run.late():
            raise StopIteration

    best: Any = OptimizeResult()
    best.update(x=start, fun=np.inf, nit=0)

    def in_time(point: Array) -> tuple[float, Array]:
        if np.isfinite(best.fun):
            run.check_time()  # in the middle of a line search, too
        value, slope = evaluate(point)
        if value < best.fun:
            best.update(x=point.copy(), fun=value, jac=slope.copy())
        return value, slope

    chosen: Any = options
    try:
        return minimize(in_time, start, jac=True, method="L-BFGS-B", callback=step, options=chosen)
    except OutOfTime:
        return best


def _blocks(theta: Array, shape: tuple[int, int, int]) -> tuple[Array, Array]:
    """Return the maps as views of theta; an offset that the columns absorb is none of them."""
    k, n, p = shape
    A = theta[: k * n * p].reshape(shape)
    return A, theta[k * n * p :].reshape(k, n) if len(theta) > k * n * p else np.zeros((k, n))


def _square(block: Block) -> float:
    """Return the weighted sum of squared decisions."""
    return float(block.weights @ np.nansum(block.decisions**2, axis=1))


# Least squares with the minimisers held: a polish on the exact loss.


#: Rounds of minimisers and least squares.
ROUNDS = 5
#: More parameters for each decision than this are not refitted: the normal equations are dense.
MOST_PARAMETERS = 1000


def polish(problem: AnnealedObjective, theta: Array) -> Array:
    """Return parameters refitted with the ridge, or without it where that explains all samples."""
    explained = problem.explained(theta)
    best = theta if explained else refit(problem, theta)
    bare = refit(problem.without_ridge(), best)
    return bare if explained or problem.explained(bare) else best


def refit(problem: AnnealedObjective, theta: Array) -> Array:
    r"""Return better parameters, by least squares with each sample's minimiser held.

    With :math:`z_i` fixed, :math:`x_i \approx A(s_i) z_i + b(s_i)` is linear in the parameters.
    The new ones are kept while the loss of returned decisions, with the ridge, falls. Parameters
    on which no sample depends stay as they are.
    """
    objective = problem.objective
    p = objective.affine().latent(objective.n_decisions).dimension
    if objective.n_features * (p + 1) > MOST_PARAMETERS:
        return theta
    best = problem.merit(theta)
    for _ in range(ROUNDS):
        if objective.run.late():
            break
        tried = _solved(problem, theta)
        reached = problem.merit(tried)
        if not reached < best:
            break
        done = reached >= best * (1.0 - SAME_TOL)
        theta, best = tried, reached
        if done:
            break
    return theta


def _solved(problem: AnnealedObjective, theta: Array) -> Array:
    """Solve the normal equations for the step to the best parameters at these minimisers."""
    objective = problem.objective
    hypothesis, n, k = objective.affine(), objective.n_decisions, objective.n_features
    maps = hypothesis.maps(theta, n, k)
    offset = "b" in hypothesis.layout(n, k).shapes
    width = k * (maps.A.shape[2] + offset)
    primitive = hypothesis.latent(n)

    def one(block: Block) -> tuple[Array, Array]:
        return _moments(primitive, maps, block, offset)

    matrix, right = objective.samples.sum(one, objective.n_jobs)
    ridge = np.kron(problem.metric, np.eye(width // k))
    ahead = _by_decision(hypothesis.maps(problem.center - theta, n, k), offset)
    step = np.empty((n, width))
    for j in range(n):
        step[j] = np.linalg.lstsq(matrix[j] + ridge, right[j] + ridge @ ahead[j], rcond=LSTSQ_TOL)[
            0
        ]
    blocks = step.reshape(n, k, -1)
    moved = Maps(
        maps.A + np.moveaxis(blocks[:, :, : maps.A.shape[2]], 0, 1),
        maps.b + blocks[:, :, -1].T if offset else maps.b,
    )
    return hypothesis.theta_of(moved)


def _moments(
    primitive: PrimitiveSet, maps: Maps, block: Block, offset: bool
) -> tuple[Array, Array]:
    """Return the normal equations of one block, for each decision."""
    n = block.decisions.shape[1]
    A, b = maps.at(block.features)
    z = primitive.argmin(np.einsum("inp,in->ip", A, block.costs))
    residuals = block.decisions - np.einsum("inp,ip->in", A, z) - b
    if offset:
        z = np.column_stack([z, np.ones(len(z))])
    inputs = (block.features[:, :, None] * z[:, None, :]).reshape(len(z), -1)
    seen = ~np.isnan(residuals)
    weights = block.weights[:, None]
    right = np.nan_to_num(residuals * weights).T @ inputs
    if seen.all():
        return np.tile(inputs.T @ (weights * inputs), (n, 1, 1)), right
    return np.array([inputs.T @ (w[:, None] * inputs) for w in (weights * seen).T]), right


def _by_decision(maps: Maps, offset: bool) -> Array:
    """Return the entries of the maps in one row for each decision: features, then z."""
    A = np.moveaxis(maps.A, 1, 0)
    blocks = np.concatenate([A, maps.b.T[:, :, None]], axis=2) if offset else A
    return np.ascontiguousarray(blocks).reshape(len(A), -1)
