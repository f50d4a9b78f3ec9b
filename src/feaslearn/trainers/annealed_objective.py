"""The objective of annealing: a smooth stand-in for the loss, and a ridge toward a policy."""

from __future__ import annotations

from copy import copy

import numpy as np

from feaslearn.arrays import Array
from feaslearn.data import Block
from feaslearn.hypotheses.map_hypothesis import Maps
from feaslearn.losses import Objective, Predictability
from feaslearn.losses.kernels import SQUARED_L2
from feaslearn.solvers.lbfgs import quasi_newton
from feaslearn.solvers.oracle_kernels import is_simplex
from feaslearn.tolerances import CONVERGED_TOL
from feaslearn.trainers.annealed_column_kernels import annealed_columns
from feaslearn.trainers.annealed_kernels import annealed_rows
from feaslearn.trainers.returned_decisions import returned_loss
from feaslearn.trainers.ridge import Ridge
from feaslearn.trainers.starts.start import Policy


class AnnealedObjective:
    r"""The objective :math:`\sum_i w_i \|A_i z_\tau(A_i'c_i) + b_i - x_i\| + \lambda \|\theta -
    \theta_0\|_W^2`.

    The smooth minimiser :math:`z_\tau` tends to the minimiser over Z as the temperature falls, see
    `soft_argmin`. :math:`\theta_0` is the linear policy: every point of Z is mapped to it.
    Temperatures are relative to the residuals of that policy, with costs of length one.
    """

    def __init__(self, objective: Objective, policy: Policy, ridge: Ridge) -> None:
        code = objective.maps().latent(objective.n_decisions).code()
        if code is None:
            raise AssertionError("a set without a smooth minimiser")
        self.objective, self._code = objective, code
        #: Root mean square of the policy's residuals; zero where there are only rounding errors.
        self.scale = float(np.sqrt((policy.spread**2).sum()))
        self._determined = objective.size < objective.n_observed
        size = np.sqrt(objective.total(_square))
        if self.scale <= CONVERGED_TOL * size:
            self.scale = 0.0
        k, n = policy.beta.shape
        hypothesis = objective.maps()
        p = hypothesis.latent(n).dimension
        self._shape = (k, n, p)
        self.center = hypothesis.theta_of(Maps(np.zeros((k, n, p)), policy.beta))
        self._norm = objective.loss.norm_code()
        self.squared = self._norm == SQUARED_L2
        metric = ridge.metric(policy.beta)
        #: The matrix of the ridge over the features, in units of the loss.
        self.metric = metric if self.squared else metric / (self.scale or 1.0)

    def evaluate(self, theta: Array, temperature: float) -> tuple[float, Array]:
        """Return value and gradient at one temperature, relative to the residuals' size."""
        tau, norm, code, shape = temperature * self.scale, self._norm, self._code, self._shape
        A, b = _blocks(theta, shape)

        def one(block: Block) -> tuple[float, Array]:
            slope = np.zeros(len(theta))
            dA, db = _blocks(slope, shape)
            if is_simplex(code):  # whose columns hold the offset
                return annealed_columns(A, *block, tau, norm, dA), slope
            return annealed_rows(code, A, b, *block, tau, norm, dA, db), slope

        return self._with_ridge(theta, *self.objective.total(one))

    def exact(self, theta: Array) -> tuple[float, Array]:
        """Return value and gradient with the loss itself."""
        return self._with_ridge(theta, *self.objective.value_and_gradient(theta))

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
        loss = returned_loss(self.objective, theta)
        return loss <= (CONVERGED_TOL * self.scale) ** (2 if self.squared else 1)

    def penalty(self, theta: Array) -> float:
        """Return the ridge alone."""
        away = theta - self.center
        return float(self._pull(away) @ away)

    def merit(self, theta: Array) -> float:
        """Return what fits are compared by: the loss of returned decisions, and the ridge."""
        # Suboptimality, which does not reward ties, counts itself.
        own = not isinstance(self.objective.loss, Predictability)
        loss = self.objective.value(theta) if own else returned_loss(self.objective, theta)
        return loss + self.penalty(theta)

    def descend(
        self, theta: Array, temperature: float | None, max_iter: int, tol: float
    ) -> tuple[Array, float, Array, int]:
        """Take quasi-Newton steps at one temperature, or None for the loss itself."""

        # Its first step and its tolerance are absolute: both get the size of the residuals.
        unit = self.scale or 1.0
        loss_unit = unit**2 if self.squared else unit

        def evaluate(point: Array) -> tuple[float, Array]:
            theta = unit * point
            found = self.exact(theta) if temperature is None else self.evaluate(theta, temperature)
            return found[0] / loss_unit, found[1] * (unit / loss_unit)

        found = quasi_newton(
            evaluate,
            theta / unit,
            self.objective.run,
            maxiter=max_iter,
            ftol=float(tol),
            gtol=0.0,
        )
        slope = np.asarray(found.jac) * (loss_unit / unit)
        return unit * found.x, loss_unit * float(found.fun), slope, int(found.nit)


def _blocks(theta: Array, shape: tuple[int, int, int]) -> tuple[Array, Array]:
    """Return the maps as views of theta; an offset that the columns absorb is none of them."""
    k, n, p = shape
    A = theta[: k * n * p].reshape(shape)
    return A, theta[k * n * p :].reshape(k, n) if len(theta) > k * n * p else np.zeros((k, n))


def _square(block: Block) -> float:
    """Return the weighted sum of squared decisions."""
    return float(block.weights @ np.nansum(block.decisions**2, axis=1))
