"""Inverse optimization of the objective over known constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import block_diag
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import validate_data

from feaslearn.arrays import Array
from feaslearn.baselines.samples import check_samples, signals_to_predict
from feaslearn.exceptions import DataError, Problems
from feaslearn.formulations.program import CONIC, load_cvxpy, solve
from feaslearn.parameters import POSITIVE, check_value
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.solvers.conic import solve_conic
from feaslearn.solvers.conic_form import Cone, ConicForm


@dataclass(eq=False, repr=False)
class QuadraticCost(MultiOutputMixin, RegressorMixin, BaseEstimator):
    r"""A strictly convex quadratic cost, learned over a feasible set that is known.

    .. math:: \hat x(s) = \arg\min \{\tfrac12 x'Qx + (Bs + a)'x : x \in R\}

    Learned are :math:`Q \succeq I` (which fixes the unit of cost), B and a; the polyhedral set
    :math:`R = \{x : Hx \ge h, Ex = e\}` is given and does not depend on the signal; the true
    linear cost is not given. They minimise how far the decisions are from the conditions of
    optimality, with multipliers :math:`\lambda_i \ge 0` and :math:`\nu_i` for each sample,

    .. math:: \sum_i w_i \left(\|Qx_i + Bs_i + a - H'\lambda_i - E'\nu_i\|^2
        + (\lambda_i'(Hx_i - h))^2\right) + r (\|Q\|_F^2 + \|B\|_F^2 + \|a\|^2).

    Whatever is learned, the policy is continuous in s. A decision that jumps is out of its reach:
    it can only be approached by a cost ever steeper against its curvature.

    Parameters
    ----------
    region : PrimitiveSet
        The feasible set R of the decisions, polyhedral, such as ``Polytope(H, h, E, e)``.
    ridge : float, default=1e-4
        The weight r. Without it nothing limits the steepness where data can be explained exactly.

    Attributes
    ----------
    Q_ : ndarray of shape (n, n)
        The curvature.
    B_ : ndarray of shape (n, K)
        How the linear part moves with the signals.
    a_ : ndarray of shape (n,)
        Its constant.
    n_features_in_ : int
        The number of signals.
    feature_names_in_ : ndarray
        The names of the signals, where they have names.

    References
    ----------
    Keshavarz, Wang and Boyd, "Imputing a convex objective function", IEEE International Symposium
    on Intelligent Control, 2011.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(50, random_state=0)
    >>> known = fl.Polytope([[1, 0], [0, 1], [-1, 0], [0, -1]], [0, 0, -2, -2], [[1, 1]], [1])
    >>> model = fl.baselines.QuadraticCost(known).fit(data.signals, data.decisions)
    >>> model.predict([[0.0], [1.0]]).round(3) + 0.0
    array([[1., 0.],
           [0., 1.]])
    >>> bool(0.05 < model.predict([[0.5]])[0, 0] < 0.95)
    True
    """

    region: PrimitiveSet | None = None
    ridge: float = 1e-4

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the cost.

        Parameters
        ----------
        X : array_like of shape (N, K)
            The signals.
        y : array_like of shape (N, n)
            The decisions, all observed.
        sample_weight : array_like of shape (N,), optional
            The weight of each sample, not negative.

        Returns
        -------
        QuadraticCost
            The model itself.
        """
        signals, decisions, weights = check_samples(X, y, sample_weight, "QuadraticCost")
        form = self._check(decisions)
        validate_data(self, X, skip_check_array=True)
        kept = weights > 0.0
        self._impute(form, signals[kept], decisions[kept], weights[kept] / weights.sum())
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Return the decisions of least learned cost.

        Parameters
        ----------
        X : array_like of shape (N, K)
            The signals.

        Returns
        -------
        ndarray of shape (N, n)
            The decisions.
        """
        signals = signals_to_predict(self, X, "Q_")
        slopes = signals @ self.B_.T + self.a_
        root = np.linalg.cholesky(self.Q_)
        form, n = self._region().conic_form(), len(self.a_)
        # With w = L'x the quadratic part is |w|^2 / 2.
        rows = np.vstack([block_diag(form.H, np.zeros((0, n))), np.hstack([root.T, -np.eye(n)])])
        offset = np.append(form.h, np.zeros(n))
        cones = (*form.cones, Cone("zero", n))
        found = [
            solve_conic(np.append(slope, np.zeros(n)), rows, offset, cones, squared=n).point[:n]
            for slope in slopes
        ]
        return np.array(found).reshape(-1, n)

    def _region(self) -> PrimitiveSet:
        if not isinstance(self.region, PrimitiveSet):
            raise DataError(
                f"QuadraticCost: region is {self.region!r}; give the known set, such as "
                "Polytope(H, h, E, e)"
            )
        return self.region

    def _check(self, decisions: Array) -> ConicForm:
        """Return the rows of the known set, or raise all problems."""
        region, problems = self._region(), Problems()
        form = region.conic_form()
        if not form.polyhedral or region.discrete:
            problems.add(f"region is {region!r}; a convex polyhedral set is needed")
        if form.H.shape[1] != decisions.shape[1]:
            problems.add(
                f"region holds points of {form.H.shape[1]} entries, but there are "
                f"{decisions.shape[1]} decisions"
            )
        if np.isnan(decisions).any():
            row, column = np.argwhere(np.isnan(decisions))[0]
            problems.add(f"y[{row}, {column}] is NaN; every decision must be observed")
        check_value("ridge", self.ridge, POSITIVE, problems)
        problems.raise_if_any(DataError, "QuadraticCost")
        return form

    def _impute(self, form: ConicForm, signals: Array, decisions: Array, weights: Array) -> None:
        """Minimise the residuals of the conditions of optimality."""
        cp = load_cvxpy()
        (N, n), K = decisions.shape, signals.shape[1]
        Q, B, a = cp.Variable((n, n), symmetric=True), cp.Variable((n, K)), cp.Variable((1, n))
        multipliers = cp.Variable((N, len(form.h)))
        slack = decisions @ form.H.T - form.h
        stationarity = decisions @ Q + signals @ B.T + np.ones((N, 1)) @ a - multipliers @ form.H
        complementarity = cp.sum(cp.multiply(multipliers, slack), axis=1)
        roots = np.sqrt(weights)
        size = cp.sum_squares(Q) + cp.sum_squares(B) + cp.sum_squares(a)
        residuals = cp.sum_squares(cp.multiply(roots[:, None], stationarity))
        residuals += cp.sum_squares(cp.multiply(roots, complementarity))
        limits = [np.eye(n) << Q]
        if (~form.equality_rows).any():
            limits.append(multipliers[:, np.flatnonzero(~form.equality_rows)] >= 0)
        problem = cp.Problem(cp.Minimize(residuals + float(self.ridge) * size), limits)
        solve(problem, "quadratic cost", CONIC)
        self.Q_ = np.asarray((Q.value + Q.value.T) / 2.0)
        self.B_, self.a_ = np.asarray(B.value), np.asarray(a.value).ravel()
