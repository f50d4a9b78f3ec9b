"""A plant that shifts its consumption between the hours of a day."""

from __future__ import annotations

import numpy as np

from feaslearn.data import Decisions
from feaslearn.datasets._arguments import (
    RandomState,
    check_common,
    check_room,
    numbered,
    uniform,
)
from feaslearn.exceptions import DataError, Problems
from feaslearn.parameters import POSITIVE, Integer, Number, check_value
from feaslearn.problem import AffineRows, LinearProgram


def make_flexible_plant(
    n_samples: int,
    noise: float = 0.0,
    random_state: RandomState = None,
    *,
    signal_noise: float = 0.0,
    hours: int = 24,
    energy: float = 0.4,
    ramp: float = 0.35,
) -> Decisions:
    """Make the schedules of a plant that answers to hourly prices.

    ``min { p'x : 0 <= x <= 1, sum x = energy * hours, |x_{t+1} - x_t| <= ramp }``, prices uniform.

    Parameters
    ----------
    n_samples : int
        How many days to make.
    noise : float, default 0.0
        The standard deviation of Gaussian noise on the schedules.
    random_state : int, Generator, RandomState or None
        Where the randomness comes from. An integer seeds ``numpy.random.SeedSequence``; the same
        seed gives the same prices and the same schedules before noise, whatever the noise.
    signal_noise : float, default 0.0
        The standard deviation of Gaussian noise on the prices as they are observed; the schedules
        answer to the true ones.
    hours : int, default 24
        How many hours a day has.
    energy : float, default 0.4
        The energy the plant needs in a day, as a share of what it could take.
    ramp : float, default 0.35
        By how much consumption can change from one hour to the next.

    Returns
    -------
    Decisions
        Signals ``price_1`` to ``price_24``, decisions ``load_1`` to ``load_24``, and the plant as
        ``forward``.

    Examples
    --------
    >>> from feaslearn.datasets import make_flexible_plant
    >>> data = make_flexible_plant(2, random_state=0)
    >>> data.decisions.sum(axis=1).round(6)
    array([9.6, 9.6])
    """
    problems = Problems()
    draw = check_common(problems, n_samples, noise, signal_noise, random_state)
    check_value("hours", hours, Integer(1), problems)
    check_value("energy", energy, Number(0.0, 1.0, above=True, below=True), problems)
    check_value("ramp", ramp, POSITIVE, problems)
    problems.raise_if_any(DataError, "make_flexible_plant")
    check_room("make_flexible_plant", n_samples, 2 * hours, beside=6 * int(hours) ** 2)
    prices = uniform(draw.streams.signals, n_samples, [(0.0, 1.0)] * hours)
    plant = _plant(hours, energy, ramp)
    schedules = plant.solve(prices, prices)
    return draw.observed(prices, schedules, *numbered("price", "load", hours), plant)


def _plant(hours: int, energy: float, ramp: float) -> LinearProgram:
    """Return the plant's problem: the energy of the day, then the ramps between its hours."""
    matrix = np.vstack([np.ones(hours), np.diff(np.eye(hours), axis=0)])
    still = np.zeros((hours, hours))
    lower = np.concatenate([[energy * hours], np.full(hours - 1, -ramp)])
    upper = np.concatenate([[energy * hours], np.full(hours - 1, ramp)])
    return LinearProgram(
        matrix,
        AffineRows(lower, still),
        AffineRows(upper, still),
        np.zeros(hours),
        np.ones(hours),
        n_decisions=hours,
    )
