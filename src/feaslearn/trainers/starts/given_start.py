"""Starts at given parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from feaslearn.exceptions import DataError, Problems
from feaslearn.losses import Objective
from feaslearn.trainers.starts.start import Start

Array = NDArray[np.float64]


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
