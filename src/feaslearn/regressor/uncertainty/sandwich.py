r"""Bands in closed form, where decisions are linear in the parameters.

With :math:`\hat x_i = J_i \theta`, errors :math:`r_i` and the scales that are zero held at zero,
the parameters have about the covariance

.. math:: Z (Z'HZ)^{-1} Z' \Big( \sum_i w_i^2 J_i' r_i r_i' J_i \Big) Z (Z'HZ)^{-1} Z', \qquad
    H = \sum_i w_i J_i'J_i

What counts as zero there must not depend on the units of signals, decisions and sets, so all of it
is found for parameters in units of their own, and brought back.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import block_diag

from feaslearn.data import Shard
from feaslearn.hypotheses import GrownMinkowski, Minkowski
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.hypotheses.term_minimizers import TermMinimizers
from feaslearn.regressor.reader import check_signals, decision_names, one_row, read
from feaslearn.regressor.uncertainty.bands import Bands, normal_bands
from feaslearn.regressor.uncertainty.bootstrap import as_directions
from feaslearn.runs import one_blas_thread
from feaslearn.runs.memory import check_memory
from feaslearn.sets.sizes import divisors
from feaslearn.trainers.convex import as_minkowski
from feaslearn.trainers.standardize import moments

if TYPE_CHECKING:
    from feaslearn.regressor.learned_region import LearnedRegion

Array = NDArray[np.float64]

#: A scale below this share of the largest is held at zero.
ZERO = 1e-8
#: Eigenvalues of active rows below this share of the largest are zero.
NONE = 1e-10
#: Directions in which decisions curve less than this share of the most are left out.
FLAT = 1e-12
#: Numbers of a Jacobian that are written out at once.
AT_ONCE = 2_000_000


class Sandwich:
    r"""A model, and the covariance of its parameters.

    Bands are :math:`\hat x \pm z \sqrt{J V J'}`: for samples that are ample beside the parameters,
    and without what ridge and rows that were not seen bias. `Bootstrap` takes longer and knows
    more.

    Parameters
    ----------
    model : RegionRegressor
        The fitted model.
    root : ndarray of shape (P, r)
        A root R of the covariance V = RR' of its parameters. It keeps digits that V loses where
        signals are far from zero beside their spread.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_l1_ball(100, n=2, noise=0.1, low=-1.0, random_state=0)
    >>> model = fl.RegionRegressor(fl.Scaled(fl.L1Ball(2)), cost=data.cost)
    >>> bands = model.fit(data.signals, data.decisions).sandwich().predict([[0.3, -0.9]])
    >>> bool(bands.contains([[1.0, 2.0]]).all())
    True
    """

    def __init__(self, model: LearnedRegion, root: Array) -> None:
        self.model = model
        self.root = root

    @property
    def covariance(self) -> Array:
        """The covariance of the parameters, (P, P)."""
        return np.asarray(self.root @ self.root.T)

    def predict(self, X: ArrayLike, costs: ArrayLike | None = None, *, level: float = 0.9) -> Bands:
        """Return bands around predicted decisions.

        Parameters
        ----------
        X : array-like or frame of shape (N, K)
            Signals.
        costs : array-like of shape (N, n), default=None
            What-if prices.
        level : float, default=0.9
            The share of bands that should hold the decision of ample data.

        Returns
        -------
        Bands
            One for each entry of each decision, (N, n).
        """
        features, prices = read(self.model, X, costs)
        model, theta = _linear(self.model), self.model.theta_
        center = model.predict(theta, features, prices)
        spread = np.empty(center.shape)
        for rows, J in _jacobians(model, theta, features, prices):
            spread[rows] = np.linalg.norm(J @ self.root, axis=2)
        return normal_bands(center, spread, level)

    def support(self, signal: ArrayLike, directions: ArrayLike, *, level: float = 0.9) -> Bands:
        """Return bands around how far the region reaches, ``max d'x`` over it.

        Parameters
        ----------
        signal : array-like of shape (K,)
            A signal, or a frame of one row.
        directions : array-like of shape (m, n) or (n,)
            Directions d.
        level : float, default=0.9
            The share of bands that should hold the reach of ample data.

        Returns
        -------
        Bands
            One for each direction, (m,).
        """
        rows = as_directions(directions, len(decision_names(self.model)))
        region = self.model.region(signal)
        center = np.array([region.support(direction) for direction in rows])
        model, theta = _linear(self.model), self.model.theta_
        phi = self.model.features_.transform(check_signals(self.model, one_row(signal)))
        features = np.repeat(phi, len(rows), axis=0)
        # The farthest point in a direction is the cheapest at the opposite price.
        J = np.concatenate([part for _, part in _jacobians(model, theta, features, -rows)])
        slopes = np.einsum("ij,ijp->ip", rows, J)
        return normal_bands(center, np.linalg.norm(slopes @ self.root, axis=1), level)

    def __repr__(self) -> str:
        return f"Sandwich({len(self.root)} parameters)"


def is_linear(hypothesis: Hypothesis, n: int) -> bool:
    """Whether the decisions of a hypothesis are linear in its parameters."""
    model = as_minkowski(hypothesis, n)
    return model is not None and not isinstance(model, GrownMinkowski)


@one_blas_thread()
def covariance_root(hypothesis: Hypothesis, theta: Array, rows: Shard) -> Array:
    """Return a root of the covariance of parameters that decisions are linear in, (P, r)."""
    n = rows.decisions.shape[1]
    model = as_minkowski(hypothesis, n)
    if model is None:
        raise TypeError("refused by is_linear")
    size = len(theta)
    check_memory(6.0 * size**2, f"the covariances of {size} parameters", "use bootstrap()")
    H, meat, observed = np.zeros((size, size)), np.zeros((size, size)), 0
    predicted = model.predict(theta, rows.features, rows.costs)
    center = _centering(rows)
    back = _back(model, center, n)
    for place, raw in _jacobians(model, theta, rows.features, rows.costs):
        slopes = raw @ back
        error = rows.decisions[place] - predicted[place]
        seen, weights = ~np.isnan(error), rows.weights[place]
        roots = np.sqrt(weights)[:, None] * seen
        J = (slopes * roots[:, :, None]).reshape(-1, size)
        H += J.T @ J
        gradients = np.einsum("ij,ijp->ip", weights[:, None] * np.nan_to_num(error), slopes)
        meat += gradients.T @ gradients
        observed += int(seen.sum())
    sizes = _sizes(model, np.diag(H), n, rows.features.shape[1])
    Z = _free(model, theta, rows.features, center, n) / sizes[:, None]
    curvatures, vectors = np.linalg.eigh(Z.T @ H @ Z)
    counts = curvatures > FLAT * curvatures.max(initial=0.0)
    steps = Z @ vectors[:, counts]
    middle = steps.T @ meat @ steps / np.outer(curvatures[counts], curvatures[counts])
    # Errors of a fit are smaller than those of new samples.
    factor = observed / max(1, observed - len(middle))
    squares, axes = np.linalg.eigh(factor * middle)
    return np.asarray(back @ steps @ (axes * np.sqrt(np.maximum(squares, 0.0))))


def _centering(rows: Shard) -> Array:
    """Return the matrix that standardises rows of features, (k, k)."""
    mean, scale = moments([rows.features], [rows.weights])
    center = np.diag(1.0 / scale)
    center[0] -= mean / scale
    return center


def _back(model: Minkowski, center: Array, n: int) -> Array:
    """Return the matrix that takes parameters for standardised features back, (P, P)."""
    k = len(center)
    parts = []
    for name, shape in model.layout(n, k).shapes.items():
        if name == "b":
            parts.append(np.kron(center, np.eye(n)))
        elif name == "alpha" and not model.basis(k).nonnegative:
            parts.append(np.kron(np.eye(shape[0]), center))
        else:
            parts.append(np.eye(prod(shape)))
    return np.asarray(block_diag(*parts))


def _sizes(model: Minkowski, squares: Array, n: int, k: int) -> Array:
    """Return how far parameters move decisions, (P,): the same for all of a term, and of b.

    A size for each parameter alone would make directions of rounding count.
    """
    layout = model.layout(n, k)
    largest = {
        name: np.broadcast_to(block.max(axis=1 if name == "alpha" else None, keepdims=True), shape)
        for (name, block), shape in zip(
            layout.unpack(squares).items(), layout.shapes.values(), strict=True
        )
    }
    return divisors(np.sqrt(layout.pack(largest)))


def _linear(model: LearnedRegion) -> Minkowski:
    linear = as_minkowski(model.hypothesis_, len(decision_names(model)))
    if linear is None:
        raise TypeError("refused by is_linear")
    return linear


def _jacobians(
    model: Minkowski, theta: Array, features: Array, costs: Array
) -> Iterator[tuple[slice, Array]]:
    """Yield rows and the derivatives (N, n, P) of their decisions in the parameters."""
    n, k = costs.shape[1], features.shape[1]
    layout = model.layout(n, k)
    blocks = layout.unpack(theta)
    minimizers = TermMinimizers(model.terms_of(n), n)
    counts = model.unclipped_scales(theta, features, n) >= 0.0
    psi = model.basis(k).values(features, blocks.get("knots"))
    step = max(1, AT_ONCE // (n * max(1, len(theta))))
    for start in range(0, len(costs), step):
        rows = slice(start, start + step)
        points = minimizers.at(costs[rows]).points * counts[rows][:, :, None]
        if "alpha" in blocks and len(blocks["alpha"]) == 1 < points.shape[1]:
            points = points.sum(axis=1, keepdims=True)
        parts = {
            "alpha": np.einsum("im,itj->ijtm", psi[rows], points),
            "b": np.einsum("il,jr->ijlr", features[rows], np.eye(n)),
            "knots": np.zeros((len(points), n, blocks["knots"].size if "knots" in blocks else 0)),
        }
        flat = [parts[name].reshape(len(points), n, -1) for name in blocks]
        yield rows, np.concatenate(flat, axis=2)


def _free(model: Minkowski, theta: Array, features: Array, center: Array, n: int) -> Array:
    """Return a basis (P, r), for standardised features, of the steps that keep scales of zero."""
    k = features.shape[1]
    blocks = model.layout(n, k).unpack(theta)
    basis = model.basis(k)
    parts = []
    for name, block in blocks.items():
        if name == "b":
            parts.append(np.eye(block.size))
        elif name == "knots":
            parts.append(np.zeros((block.size, 0)))
        elif basis.nonnegative:
            size = ZERO * np.abs(block).max(initial=0.0)
            parts.append(np.eye(block.size)[:, block.ravel() > size])
        else:
            limit = ZERO * np.abs(features @ block.T).max(initial=0.0)
            own = features @ center
            parts.append(block_diag(*(_orthogonal(own[features @ row <= limit]) for row in block)))
    return np.asarray(block_diag(*parts))


def _orthogonal(rows: Array) -> Array:
    """Return a basis of what is at right angles to rows."""
    if not len(rows):
        return np.eye(rows.shape[1])
    sizes, vectors = np.linalg.eigh(rows.T @ rows)
    return np.asarray(vectors[:, sizes <= NONE * max(float(sizes[-1]), 1e-300)])
