"""The signal that would tell most about the lines."""

from __future__ import annotations

from numbers import Real
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.exceptions import DataError, Problems
from feaslearn.network.integer_program import FloatArray
from feaslearn.problem.candidate_lines import CandidateLines, Networks
from feaslearn.problem.forward_problem import check_count
from feaslearn.problem.network_samples import dispatch_of

#: Two dispatches differ when an entry differs by more than this, relative to the largest.
DIFFERENT = 1e-6


class NextSignal(NamedTuple):
    """A signal, and what observing the answer to it would leave.

    ``expected_left`` is the mean number of networks that remain if each of them is equally likely
    to be the true one; ``n_answers`` counts the different dispatches they would give.
    """

    signal: FloatArray
    row: int
    n_answers: int
    n_networks: int
    expected_left: float


def best_signal(
    candidates: CandidateLines,
    networks: Networks,
    signals: FloatArray,
    costs: FloatArray,
    demands: FloatArray,
) -> NextSignal:
    """Return the signal whose answer leaves the fewest networks.

    Parameters
    ----------
    candidates : CandidateLines
        The lines there may be.
    networks : ndarray of bool, shape (R, L)
        The networks that remain.
    signals : ndarray of shape (M, n_signals)
        The signals to choose from.
    costs, demands : ndarray
        The prices and demands in them.

    Returns
    -------
    NextSignal
        The best of them; of several, the first.
    """
    answers = np.stack([dispatch_of(candidates, row, demands, costs) for row in networks])
    best: NextSignal | None = None
    for index in range(len(signals)):
        sizes = _class_sizes(answers[:, index])
        left = float((sizes**2).sum() / sizes.sum())
        if best is None or left < best.expected_left - 1e-9:
            best = NextSignal(signals[index], index, len(sizes), len(networks), left)
    if best is None:
        raise AssertionError("there is no signal to choose from")
    return best


def _class_sizes(answers: FloatArray) -> FloatArray:
    """Return how many networks give each answer; those that cannot serve are one class."""
    served = ~np.isnan(answers[:, 0])
    labels: NDArray[np.int64] = np.zeros(len(answers), dtype=np.int64)
    scale = DIFFERENT * max(float(np.abs(answers[served]).max(initial=0.0)), 1e-300)
    for column in answers[served].T:
        order = np.argsort(column, kind="stable")
        steps = np.concatenate([[0], np.cumsum(np.diff(column[order]) > scale)])
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order] = steps
        _, labels[served] = np.unique(
            labels[served] * (len(answers) + 1) + ranks, return_inverse=True
        )
    labels[~served] = len(answers) + 1
    return np.unique(labels, return_counts=True)[1].astype(np.float64)


def draw_signals(
    signals: FloatArray, n_signals: int, widen: float, random_state: int
) -> FloatArray:
    """Draw signals like those observed: columns on their own, half of them at their extremes.

    Parameters
    ----------
    signals : ndarray of shape (N, n_signals)
        The observed signals.
    n_signals : int
        How many to draw.
    widen : float
        The range of each column, from its least value on, in units of the range seen.
    random_state : int
        The seed of the draws.

    Returns
    -------
    ndarray of shape (n_signals, n_columns)
        The draws.
    """
    problems = Problems()
    check_count(problems, "n_draws", n_signals)
    if not (isinstance(widen, Real) and 0.0 < float(widen) < np.inf):
        problems.add(f"widen is {widen!r}, expected a positive number")
    problems.raise_if_any(DataError, "NetworkLearner.next_signal")
    generator = np.random.default_rng(random_state)
    rows = generator.integers(len(signals), size=(n_signals, signals.shape[1]))
    drawn = np.take_along_axis(signals, rows, axis=0)
    half = n_signals // 2
    high = generator.random((half, signals.shape[1])) < 0.5
    drawn[:half] = np.where(high, signals.max(axis=0), signals.min(axis=0))
    low = signals.min(axis=0)
    return np.asarray(low + widen * (drawn - low))
