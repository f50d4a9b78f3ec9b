r"""What the paper's tables compare with: policies, costs, clusters and enumeration.

*Quadratic cost* of the tables is the linear policy: the decisions of a quadratic cost without
constraints are affine in the signal, and its curvature is not identified. `quadratic_cost` gives
that method the constraints, which the paper's data sets do not know (Example 1 alone states them).
`nearest_vertices` is ours: what a region learned without looking at the cost is worth.
`enumerated_network` is the method that Problem 2 is compared with.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag

from feaslearn.arrays import Array
from feaslearn.exceptions import DataError
from feaslearn.paper.losses import Predictability
from feaslearn.paper.network import LearnedNetwork, TransportNetwork, learn_network
from feaslearn.paper.network.losses import LossName
from feaslearn.paper.problem import Data, Found, Problem, Samples
from feaslearn.paper.programs import load_cvxpy, solve
from feaslearn.paper.regions import Affine, Cone
from feaslearn.sets import Simplex
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.solvers.conic import solve_conic


class LinearPolicy(NamedTuple):
    """The policy ``x(s) = a + B s``, with a (n,) and B (n, m)."""

    a: Array
    B: Array

    def predict(self, data: Data) -> Array:
        """Return the decisions of the policy, (N, n)."""
        return np.asarray(data.signals @ self.B.T + self.a)


def linear_policy(data: Data) -> LinearPolicy:
    r"""Fit the linear policy: ordinary least squares of the decisions on the signals.

    .. math:: \min_{a, B} \sum_i \|x_i - a - B s_i\|^2

    Parameters
    ----------
    data : Data
        The samples.

    Returns
    -------
    LinearPolicy
        The policy.

    References
    ----------
    Keshavarz, Wang and Boyd, "Imputing a convex objective function", IEEE International Symposium
    on Intelligent Control, 2011.

    Examples
    --------
    >>> import feaslearn.paper as paper
    >>> data = paper.Data([[0.0], [1.0], [2.0]], [[0.0], [2.0], [4.0]], [[1.0]] * 3)
    >>> paper.baselines.linear_policy(data).predict(data).round(9) + 0.0
    array([[0.],
           [2.],
           [4.]])
    """
    phi = np.column_stack([np.ones(len(data)), data.signals])
    beta = np.asarray(np.linalg.lstsq(phi, data.decisions, rcond=None)[0], dtype=float)
    return LinearPolicy(beta[0], beta[1:].T)


def nearest_vertices(data: Data, n_vertices: int, seed: int | None = None) -> Found:
    r"""Take the centres of clusters of decisions for the vertices of a constant region.

    .. math:: \min_v \sum_i \min_k \|x_i - v_k\|^2

    K-means finds them without regard to the cost; the region is their convex hull, an affine image
    of the simplex.

    Parameters
    ----------
    data : Data
        The samples.
    n_vertices : int
        Number p of vertices; fewer where there are fewer distinct decisions.
    seed : int, default=None
        The seed of the starts of k-means.

    Returns
    -------
    Found
        The region; its objective is the loss of the returned decisions.

    References
    ----------
    Lloyd, "Least squares quantization in PCM", IEEE Transactions on Information Theory 28(2), 1982.

    Examples
    --------
    >>> import feaslearn.paper as paper
    >>> data = paper.datasets.make_switch(100, random_state=0)
    >>> paper.baselines.nearest_vertices(data, 2, seed=0).theta + 0.0
    array([0., 1., 1., 0.])
    """
    from sklearn.cluster import KMeans

    x = data.decisions
    if n_vertices < 1:
        raise DataError("nearest_vertices needs a vertex")
    count = min(n_vertices, len(np.unique(x, axis=0)))
    clusters = KMeans(count, n_init=10, random_state=seed).fit(x)
    member = (np.arange(count)[:, None] == clusters.labels_).astype(float)
    centers = (member @ x) / member.sum(axis=1, keepdims=True)
    centers = centers[np.lexsort(centers.T[::-1])]
    one = np.ones((len(data), 1))
    samples = Samples(one, data.costs, x, np.full(len(data), 1.0 / len(data)))
    problem = Problem(Affine(Simplex(count)), Predictability(), samples, columns=())
    theta = np.ravel(centers.T)
    return Found(problem, theta, problem.returned_loss(theta), "converged")


class QuadraticCost(NamedTuple):
    """The policy ``x(s) = argmin { x'Qx / 2 + (B s + a)'x : x in R }``."""

    Q: Array
    B: Array
    a: Array
    region: PrimitiveSet

    def predict(self, data: Data) -> Array:
        """Return the decisions of least learned cost, (N, n)."""
        form, n = self.region.conic_form(), len(self.a)
        root = np.linalg.cholesky(self.Q)
        # With w = L'x the quadratic part is |w|^2 / 2.
        rows = np.vstack([block_diag(form.H, np.zeros((0, n))), np.hstack([root.T, -np.eye(n)])])
        offset, cones = np.append(form.h, np.zeros(n)), (*form.cones, Cone("zero", n))
        slopes = data.signals @ self.B.T + self.a
        found = [
            solve_conic(np.append(slope, np.zeros(n)), rows, offset, cones, squared=n).point[:n]
            for slope in slopes
        ]
        return np.array(found)


def quadratic_cost(data: Data, region: PrimitiveSet, ridge: float = 1e-4) -> QuadraticCost:
    r"""Learn a strictly convex quadratic cost over a set that is known.

    Learned are :math:`Q \succeq I` (which fixes the unit of cost), B and a; the true linear cost
    is not given. They minimise how far the decisions are from the conditions of optimality over
    :math:`R = \{x : Hx \ge h, Ex = e\}`, with multipliers for each sample,

    .. math:: \frac1N \sum_i \left(\|Qx_i + Bs_i + a - H'\lambda_i - E'\nu_i\|^2
        + (\lambda_i'(Hx_i - h))^2\right) + r (\|Q\|_F^2 + \|B\|_F^2 + \|a\|^2).

    Whatever is learned, the policy is continuous in s. A decision that jumps (Example 1) is out of
    its reach: it can only be approached by a cost ever steeper against its curvature.

    Parameters
    ----------
    data : Data
        The samples.
    region : PrimitiveSet
        The set R, polyhedral, such as ``Polytope(H, h, E, e)``.
    ridge : float, default=1e-4
        The weight r. Without it nothing limits the steepness where data can be explained exactly.

    Returns
    -------
    QuadraticCost
        The policy.

    References
    ----------
    Keshavarz, Wang and Boyd, "Imputing a convex objective function", IEEE International Symposium
    on Intelligent Control, 2011.

    Examples
    --------
    >>> import feaslearn.paper as paper
    >>> from feaslearn import Polytope
    >>> data = paper.datasets.make_switch(50, random_state=0)
    >>> known = Polytope([[1, 0], [0, 1], [-1, 0], [0, -1]], [0, 0, -2, -2], [[1, 1]], [1])
    >>> policy = paper.baselines.quadratic_cost(data, known)
    >>> new = paper.Data([[0.0], [1.0]], [[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]])
    >>> policy.predict(new).round(3) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    cp, form = load_cvxpy(), region.conic_form()
    x, s = data.decisions, data.signals
    if not form.polyhedral or form.H.shape[1] != x.shape[1] or not ridge > 0:
        raise DataError(
            f"quadratic_cost: {region!r} must be a polyhedral set of points of {x.shape[1]} "
            f"entries and ridge={ridge!r} positive"
        )
    (N, n), K = x.shape, s.shape[1]
    Q, B, a = cp.Variable((n, n), symmetric=True), cp.Variable((n, K)), cp.Variable((1, n))
    multipliers = cp.Variable((N, len(form.h)))
    slack = x @ form.H.T - form.h
    stationarity = x @ Q + s @ B.T + np.ones((N, 1)) @ a - multipliers @ form.H
    complementarity = cp.sum(cp.multiply(multipliers, slack), axis=1)
    residuals = (cp.sum_squares(stationarity) + cp.sum_squares(complementarity)) / N
    size = cp.sum_squares(Q) + cp.sum_squares(B) + cp.sum_squares(a)
    limits = [np.eye(n) << Q, multipliers[:, np.flatnonzero(~form.equality_rows)] >= 0]
    problem = cp.Problem(cp.Minimize(residuals + ridge * size), limits)
    solve(problem, "quadratic cost")
    return QuadraticCost((Q.value + Q.value.T) / 2.0, B.value, a.value.ravel(), region)


def enumerated_network(
    data: Data, candidates: TransportNetwork, loss: LossName = "predictability"
) -> LearnedNetwork:
    """Try all networks of the candidate lines, which takes the paper's rival 2.64 s for each.

    The dispatches a network allows form a polymatroid, so that a loss costs a few minima over the
    sets of nodes: all 1024 networks of the five regions take less than a tenth of a second.

    Parameters
    ----------
    data : Data
        Dispatches, as `learn_network` reads them.
    candidates : TransportNetwork
        The lines there may be, at most 20, the plants and the capacities.
    loss : {"predictability", "suboptimality"}
        What is minimised, in the l1 norm.

    Returns
    -------
    LearnedNetwork
        The sparsest network of least loss.

    References
    ----------
    Aswani, Shen and Siddiq, "Inverse optimization with noisy data", Operations Research 66(3),
    2018.
    """
    return learn_network(data, candidates, loss, solver="enumeration")
