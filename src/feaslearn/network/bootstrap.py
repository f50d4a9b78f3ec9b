"""How often a line is learned when the samples are drawn again."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from feaslearn.exceptions import FeaslearnWarning, TimeLimitError
from feaslearn.losses.network_losses import NetworkLosses
from feaslearn.network.enumeration_search import EnumerationSearch
from feaslearn.network.integer_program import FloatArray
from feaslearn.network.search import Search
from feaslearn.network.solve import Solver, solve
from feaslearn.runs import Clock
from feaslearn.trainers.progress import ProgressBar


def line_frequencies(
    search: Search,
    n_draws: int,
    generator: np.random.Generator,
    solver: Solver,
    lazy: bool,
    clock: Clock,
) -> FloatArray:
    """Return the share of draws in which each line is learned.

    Parameters
    ----------
    search : Search
        The search over all samples; one that enumerates has measured all that is needed.
    n_draws : int
        How many times to draw.
    generator : Generator
        Where the randomness comes from.
    solver : {"auto", "milp", "enumeration"}
        How the network of a draw is found otherwise.
    lazy : bool
        Whether samples are added to the integer program as they are needed.
    clock : Clock
        The time for all draws: those that it does not suffice for do not count, with a warning.

    Returns
    -------
    ndarray of shape (L,)
        The shares.
    """
    losses = search.losses
    total = np.zeros(len(losses.candidates.lines))
    with ProgressBar("bootstrap", n_draws) as bar:
        for draw in range(n_draws):
            rows = generator.integers(losses.n_samples, size=losses.n_samples)
            if isinstance(search, EnumerationSearch):
                total += _from_table(search, rows)
            else:
                drawn = NetworkLosses(losses.candidates, losses.samples.rows(rows), losses.loss)
                found = solve(drawn, solver, lazy, True, clock)
                if clock.out():
                    return _shares(total, draw, n_draws)
                total += found.network
            bar.update(draw + 1)
    return _shares(total, n_draws, n_draws)


def _shares(total: FloatArray, done: int, asked: int) -> FloatArray:
    """Return the shares of the draws there was time for."""
    if not done:
        raise TimeLimitError("bootstrap: max_seconds was over before the first draw was solved")
    if done < asked:
        text = f"bootstrap: there was time for {done} of {asked} draws"
        warnings.warn(text, FeaslearnWarning, stacklevel=4)
    return total / done


def _from_table(search: EnumerationSearch, rows: NDArray[np.int64]) -> FloatArray:
    counts = np.bincount(rows, minlength=search.table.shape[1]) / len(rows)
    drawn = counts > 0
    means = search.table[:, drawn] @ counts[drawn]
    best = search.networks[means <= means.min() + search.tolerance]
    sizes = best.sum(axis=1)
    return np.asarray(best[sizes == sizes.min()].mean(axis=0))
