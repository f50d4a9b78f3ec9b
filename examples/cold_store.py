"""The hidden plant of flexible_plant_under_prices.py: a cold store that buys power by the hour."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import feaslearn as fl
from example_tools import DATA

HOURS = 24
POWER = 1.0  # MW that the compressors draw at most: on the name plate
STORE = 2.5  # MWh of cold that fit between the warmest and the coldest it may be
KEEP = 0.98  # the share of the cold that is still there an hour later
# How the heat of a day comes in: most in the afternoon, one on average.
PROFILE = 1.0 + 0.6 * np.sin((np.arange(HOURS) + 0.5 - 9.0) / HOURS * 2.0 * np.pi)

Array = NDArray[np.float64]


def plant(ramp: float | None = None) -> fl.datasets.LinearProgram:
    """Return the plant's problem; its signals are 24 prices and the mean heat of the day in MW.

    ``level_t = KEEP level_{t-1} + power_t - heat PROFILE_t``: levels are hidden, between empty and
    full, and half at both ends of the day. With a ramp limit, power changes by at most so much.
    """
    matrix = np.hstack([-np.eye(HOURS), np.eye(HOURS) - KEEP * np.eye(HOURS, k=-1)])
    start = np.zeros(HOURS)
    start[0] = KEEP * STORE / 2.0
    heat = np.zeros((HOURS, HOURS + 1))
    heat[:, -1] = -PROFILE
    least, most = start, start
    if ramp is not None:
        changes = np.diff(np.eye(HOURS, 2 * HOURS), axis=0)
        matrix, heat = np.vstack([matrix, changes]), np.vstack([heat, np.zeros((HOURS - 1, 25))])
        least = np.concatenate([start, np.full(HOURS - 1, -ramp)])
        most = np.concatenate([start, np.full(HOURS - 1, ramp)])
    rows = fl.datasets.AffineRows(least, heat), fl.datasets.AffineRows(most, heat)
    lower, upper = np.zeros(2 * HOURS), np.repeat([POWER, STORE], HOURS)
    lower[-1] = upper[-1] = STORE / 2.0
    return fl.datasets.LinearProgram(matrix, *rows, lower, upper, n_decisions=HOURS)


def in_cvxpy(power: Any, heat: Any) -> list[Any]:
    """Return the plant as constraints on a CVXPY expression: to say what a plan really costs."""
    import cvxpy as cp

    level = cp.Variable(HOURS)
    before = cp.hstack([STORE / 2.0, level[:-1]])
    return [
        level == KEEP * before + power - heat * PROFILE,
        level >= 0.0,
        level <= STORE,
        level[-1] == STORE / 2.0,
        power >= 0.0,
        power <= POWER,
    ]


def observe(
    seed: int = 0, ramp: float | None = None
) -> tuple[NDArray[np.datetime64], fl.Decisions]:
    """Return the dates, and the prices, heat and schedule of every day without negative prices.

    The prices are real; the heat is a season and weather that lasts a few days, drawn by the seed.
    """
    path = DATA / "ercot_prices.csv"
    dates = np.loadtxt(path, delimiter=",", skiprows=1, usecols=0, dtype="datetime64[D]")
    prices = np.loadtxt(path, delimiter=",", skiprows=1, usecols=range(1, HOURS + 1))
    shocks = np.random.default_rng(seed).normal(scale=0.7, size=len(dates))
    weather = np.zeros(len(dates))
    for day in range(1, len(dates)):
        weather[day] = 0.7 * weather[day - 1] + shocks[day]
    day_of_year = (dates - dates.astype("datetime64[Y]")).astype(int)
    season = np.sin((day_of_year - 110.0) / 365.0 * 2.0 * np.pi)
    heat = np.clip(0.42 + 0.13 * season + 0.03 * weather, 0.2, 0.62)
    whole = (prices >= 0.0).all(axis=1)
    dates, prices, heat = dates[whole], prices[whole], heat[whole]
    signals, problem = np.column_stack([prices, heat]), plant(ramp)
    names = (
        [*(f"price_{hour}" for hour in range(1, HOURS + 1)), "heat"],
        [f"power_{hour}" for hour in range(1, HOURS + 1)],
    )
    decisions = problem.solve(signals, prices)
    return dates, fl.Decisions.from_arrays(
        signals, decisions, list(range(HOURS)), names=names, forward=problem
    )
