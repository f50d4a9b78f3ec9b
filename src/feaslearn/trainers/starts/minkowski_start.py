"""Starts at the vertices of a Minkowski sum."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.data import Block
from feaslearn.exceptions import DataError, Problems, UnsupportedError
from feaslearn.hypotheses import Minkowski
from feaslearn.hypotheses.map_hypothesis import Maps
from feaslearn.hypotheses.term_minimizers import TermMinimizers
from feaslearn.losses import Objective
from feaslearn.sets import Simplex
from feaslearn.tolerances import SAME_TOL, TINY
from feaslearn.trainers.standardize import least_squares
from feaslearn.trainers.starts.start import Start, drawn_points

#: Vertices that are looked at for each that is taken, to find those that differ.
LOOKED_AT = 4


class MinkowskiStart(Start):
    r"""Columns at the vertices of a Minkowski sum that decisions visit most often.

    A Minkowski sum is fitted to the training rows. Which vertex of each term is cheapest depends on
    the cost alone, so every vertex of the sum is a column :math:`b(s) + \sum_t \alpha_t(s) E_t
    z_t`, affine in the features where the scales are; others are fitted by least squares. With as
    many columns as vertices were visited, the start predicts what the Minkowski sum predicts, and
    training refines it.

    Parameters
    ----------
    hypothesis : Minkowski, default=None
        The class of sums, ``Minkowski("auto")`` by default.
    theta : array-like, default=None
        Parameters of a sum that was fitted before, as in ``model.theta_``, for the features as they
        are; ``hypothesis`` is then ``model.hypothesis_``. By default a sum is fitted.
    noise : float, default=0.1
        Gaussian noise on the columns of all starts but the first, in units of the deviation of the
        decisions. In the first start, columns beyond the vertices are dearer copies of them.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_power5(100, random_state=0)
    >>> trainer = fl.trainers.Annealing(start=fl.trainers.starts.MinkowskiStart())
    >>> model = fl.RegionRegressor(
    ...     fl.Affine(fl.Simplex(6)), cost=data.cost, trainer=trainer, random_state=0)
    >>> model.fit(data.signals, data.decisions).result_.objective < 0.2
    True
    """

    #: The ridge of a sum counts in the features as they are.
    standardized = False

    def __init__(
        self,
        hypothesis: Minkowski | None = None,
        theta: ArrayLike | None = None,
        noise: float = 0.1,
    ) -> None:
        self.hypothesis = hypothesis
        self.theta = theta
        self.noise = noise

    def check(self, problems: Problems) -> None:
        """Add to ``problems`` a hypothesis that is no sum, or parameters that are no numbers."""
        super().check(problems)
        if self.hypothesis is not None and not isinstance(self.hypothesis, Minkowski):
            problems.add(f"start: {self.hypothesis!r} is not a Minkowski")
        if self.theta is not None and self.hypothesis is None:
            problems.add("start: theta needs the hypothesis it belongs to")
        if self.theta is not None:
            wrong_parameters(self.theta, problems)

    def parameters(self, objective: Objective, random: np.random.Generator, index: int) -> Array:
        """Return parameters whose columns are the vertices visited most often."""
        affine = objective.maps()
        primitive = affine.latent(objective.n_decisions)
        if not isinstance(primitive, Simplex):
            raise UnsupportedError(
                f"start: MinkowskiStart begins with the columns of a Simplex, not {primitive!r}"
            )
        hypothesis = Minkowski() if self.hypothesis is None else self.hypothesis
        sum_of = replace(objective, hypothesis=hypothesis)
        if self.theta is not None:
            theta = given_parameters(self.theta, sum_of)
        else:
            # A trainer itself, which other starts need not wait for.
            from feaslearn.trainers.convex import Convex

            theta = Convex().train(sum_of, random).theta
        columns = _visited_vertices(hypothesis, sum_of.load(), theta, primitive.dimension)
        chosen = np.arange(primitive.dimension) % len(columns)
        A = np.moveaxis(columns[chosen], 0, 2)
        _, costs, decisions, _ = objective.load()
        spread = np.nan_to_num(np.nanstd(decisions, axis=0))
        moves = self.noise * drawn_points(objective, random, len(chosen)).T * spread[:, None]
        if not index:
            # Dearer copies: they are not taken until training finds a use for them.
            dearer = np.sign(costs.mean(axis=0))[:, None] * np.abs(moves)
            moves = np.where(np.arange(len(chosen)) >= len(columns), dearer, 0.0)
        A[0] += moves
        return affine.theta_of(Maps(A, np.zeros(A.shape[:2])))


def _visited_vertices(hypothesis: Minkowski, rows: Block, theta: Array, most: int) -> Array:
    """Return the vertices that weigh most on the training rows as columns (vertices, k, n)."""
    features, costs, decisions, weights = rows
    n = decisions.shape[1]
    scales = hypothesis.scales(theta, features, n)
    offsets = hypothesis.offsets(theta, features, n)
    minimizers = TermMinimizers(hypothesis.terms_at(theta, n, features.shape[1]), n)
    counts = scales.max(axis=0, initial=0.0) > 0.0
    parts = [minimizers.at(costs[rows]).points[:, counts] for rows in minimizers.chunks(len(costs))]
    points = np.concatenate(parts).reshape(len(costs), -1)
    vertices, which = np.unique(points.round(12), axis=0, return_inverse=True)
    heaviest = np.argsort(-np.bincount(which.ravel(), weights), kind="stable")[: LOOKED_AT * most]
    tables = [offsets + scales[:, counts] @ vertices[each].reshape(-1, n) for each in heaviest]
    columns = np.array([least_squares(features, table, weights) for table in tables])
    # Different vertices of the terms may be one vertex of their sum.
    size = SAME_TOL * np.abs(columns).max(initial=TINY)
    _, first = np.unique((columns / size).round(), axis=0, return_index=True)
    return np.asarray(columns[np.sort(first)[:most]])


# Starts at given parameters.


class GivenStart(Start):
    """Parameters of the user's own, such as those of a model fitted before.

    Parameters
    ----------
    theta : array-like
        Parameters as in ``model.theta_``, for the features as they are.
    noise : float, default=0.1
        Gaussian noise on all starts but the first, in units of the root mean square of ``theta``.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(50, random_state=0)
    >>> start = fl.trainers.starts.GivenStart([1.0, 0.0, 0.0, 1.0])
    >>> model = fl.RegionRegressor(
    ...     fl.Affine(fl.Simplex(2)), cost=data.cost,
    ...     trainer=fl.trainers.AdaptiveSmoothing(max_iter=0, start=start))
    >>> model.fit(data.signals, data.decisions).result_.objective
    0.0
    """

    standardized = False

    def __init__(self, theta: ArrayLike, noise: float = 0.1) -> None:
        self.theta = theta
        self.noise = noise

    def check(self, problems: Problems) -> None:
        """Add to ``problems`` parameters that are no vector of finite numbers."""
        super().check(problems)
        wrong_parameters(self.theta, problems)

    def parameters(self, objective: Objective, random: np.random.Generator, index: int) -> Array:
        """Return the parameters given, with noise from the second start on."""
        theta = given_parameters(self.theta, objective)
        if index:
            size = self.noise * np.sqrt(np.mean(theta**2))
            theta = theta + size * random.standard_normal(theta.shape)
        return theta


def wrong_parameters(theta: ArrayLike, problems: Problems) -> None:
    """Add to ``problems`` parameters that are no vector of finite numbers."""
    values = _numbers(theta)
    if values is None or values.ndim != 1 or not np.isfinite(values).all():
        problems.add("start: theta is not a vector of finite numbers")


def given_parameters(theta: ArrayLike, objective: Objective) -> Array:
    """Return parameters as a new vector; refuse those of another hypothesis or other features."""
    values = np.array(theta, dtype=float)
    if len(values) != objective.size:
        raise DataError(
            f"start: theta has {len(values)} entries, but {objective.hypothesis!r} with "
            f"{objective.n_features} features has {objective.size} parameters"
        )
    return values


def _numbers(values: Any) -> Array | None:
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        return None
