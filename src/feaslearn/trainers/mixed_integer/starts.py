"""Good parameters before any proof: soft minimisers, cooled, and programs with fixed points."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import partial

import numpy as np

from feaslearn.arrays import Array
from feaslearn.exceptions import SolverError
from feaslearn.losses import Objective
from feaslearn.runs import OutOfTime, Run
from feaslearn.solvers.lbfgs import quasi_newton
from feaslearn.tolerances import NUDGE, SAME_TOL
from feaslearn.trainers.mixed_integer.enumerated_samples import EnumeratedSamples
from feaslearn.trainers.mixed_integer.node_program import NodeProgram
from feaslearn.trainers.starts import KMeansStart, LinearStart

#: Temperatures of the soft minimum, relative to the spread of the prices, from warm to cold.
TEMPERATURES = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003)
#: Relative loss that may be paid to be away from ties.
FOR_THE_MARGIN = 1e-5
#: Programs with fixed points, each from the answer of the last.
ROUNDS = 20


def starts(
    samples: EnumeratedSamples, objective: Objective, random: np.random.Generator, count: int
) -> Iterator[Array]:
    """Yield matrices to begin from: clusters around the linear policy first, then random ones."""
    # The time of the objective's run ends the work on one that begins at random.
    if samples.interchangeable:
        yield samples.beta(KMeansStart(noise=0.0).parameters(objective, random, 0))
    for index in range(1, count + 1):
        beta = samples.beta(LinearStart().parameters(objective, random, index))
        yield _cooled(samples, beta, objective.run)


def improved(program: NodeProgram, beta: Array) -> tuple[float, Array]:
    """Fix the points that ``beta`` itself takes, solve for the best parameters, and repeat."""
    # Each program holds the parameters before it, so that the loss never rises. The best parameters
    # lie where points tie; a margin keeps predictions away from there if there is room for one.
    samples = program.samples
    best, value = beta, samples.value(beta)
    for _ in range(ROUNDS):
        if program.clock.out():
            break
        try:
            solved = with_margin(program, best)
        except OutOfTime:
            break
        reached = np.inf if solved is None else samples.value(solved)
        # What a margin costs is worth paying: the loss counts the nearest of tied points, but a
        # model returns the first.
        allowed = FOR_THE_MARGIN * max(value, 1e-3) if _close(samples, best) else 0.0
        if solved is None or reached > value + allowed:
            break
        gained = value - reached
        best, value = solved, reached
        if gained <= SAME_TOL * value:
            break
    return value, best


def _close(samples: EnumeratedSamples, beta: Array) -> bool:
    """Say whether a sample has two predictions at almost the same least price."""
    if samples.priced:
        return False
    predictions = samples.predictions(beta)
    prices = samples.prices(predictions)
    far = (prices > prices.min(axis=1, keepdims=True) + 0.5 * NUDGE)[:, :, None]
    high = np.where(far, -np.inf, predictions).max(axis=1)
    low = np.where(far, np.inf, predictions).min(axis=1)
    return bool((high - low > NUDGE).any())


def with_margin(program: NodeProgram, beta: Array) -> Array | None:
    """Return the best parameters that keep the points of ``beta``, or None."""
    samples = program.samples
    predictions = samples.predictions(beta)
    distances = samples.distances(predictions)
    margins: tuple[float, ...] = (0.0,)
    nearest, chosen = dict[int, int](), dict[int, int]()
    if samples.priced:
        nearest = dict(zip(samples.groups.tolist(), distances.argmin(axis=1).tolist(), strict=True))
    else:
        prices = samples.prices(predictions)
        # Among points that almost tie, the nearest: their order is what a margin can decide.
        close = prices <= prices.min(axis=1, keepdims=True) + 10.0 * NUDGE
        points = np.where(close, distances, np.inf).argmin(axis=1)
        margins, chosen = (NUDGE, 0.0), dict(enumerate(points.tolist()))
    for margin in margins:
        with contextlib.suppress(SolverError):
            return program.solve(nearest, chosen, margin).beta
    return None


def _cooled(samples: EnumeratedSamples, beta: Array, run: Run) -> Array:
    """Minimise the squared loss of soft minimisers, at ever lower temperatures; keep the best."""
    best, value = beta, samples.value(beta)
    spread = float(np.ptp(samples.prices(samples.predictions(beta)), axis=1).mean()) or 1.0
    for temperature in TEMPERATURES:
        if run.late():
            break
        answer = quasi_newton(
            partial(_soft, samples=samples, temperature=spread * temperature),
            beta.ravel(),
            run,
            maxiter=100,
        )
        beta = answer.x.reshape(beta.shape)
        reached = samples.value(beta)
        if reached < value:
            best, value = beta, reached
    return best


def _soft(flat: Array, samples: EnumeratedSamples, temperature: float) -> tuple[float, Array]:
    """Return the mean squared distance to points drawn with odds ``exp(-price / temperature)``."""
    predictions = samples.predictions(flat.reshape(samples.psi.shape[2], -1))
    prices = samples.prices(predictions)
    odds = np.exp((prices.min(axis=1, keepdims=True) - prices) / temperature)
    odds /= odds.sum(axis=1, keepdims=True)
    gaps = (predictions - samples.known[:, None, :]) * samples.seen[:, None, :]
    squares = (gaps**2).sum(axis=2)
    means = (odds * squares).sum(axis=1)
    priced = -odds * (squares - means[:, None]) / temperature
    slopes = 2.0 * odds[:, :, None] * gaps + priced[:, :, None] * samples.costs[:, None, :]
    weighted = slopes * samples.weights[:, None, None]
    gradient = np.einsum("imd,imn->dn", samples.psi, weighted)
    return float(samples.weights @ means), gradient.ravel()
