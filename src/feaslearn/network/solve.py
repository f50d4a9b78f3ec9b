"""Networks of least loss and, among these, of fewest lines."""

from __future__ import annotations

import warnings
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.arrays import Array
from feaslearn.exceptions import FeaslearnWarning, TimeLimitError
from feaslearn.network.cuts import CutSearch, find_tight_cuts
from feaslearn.network.enumeration import EnumerationSearch
from feaslearn.network.flow import FlowSearch, price_levels
from feaslearn.network.losses import NetworkLosses
from feaslearn.network.samples import dispatch_of
from feaslearn.network.search import Network, no_limits
from feaslearn.results import Status, TrainingResult
from feaslearn.runs import Clock
from feaslearn.runs.progress import ProgressBar
from feaslearn.solvers.mip import Outcome
from feaslearn.tolerances import ACCEPT_TOL

Solver = Literal["auto", "milp", "enumeration"]
#: A search for networks of any loss, and one that may be for those of zero loss alone: each has the
#: network of least ``weights @ y`` within a loss, measured exactly on all samples.
Search = EnumerationSearch | FlowSearch
LineSearch = Search | CutSearch

#: Networks are enumerated if that reads no more entries of cuts, and takes no more losses.
MAX_ENTRIES, MAX_LOSSES = 2**33, 2**25


class Solved(NamedTuple):
    """A network, what is proved of it, and the search that can be asked more."""

    network: Network
    loss: float
    loss_bound: float
    lines_bound: float
    outcome: Outcome
    search: LineSearch


def solve(
    losses: NetworkLosses, solver: Solver, lazy: bool, sparsest: bool, clock: Clock
) -> Solved:
    """Find a network of least loss and, of these, one with the fewest lines."""
    if solver == "auto":
        exact = _solve_by_cuts(losses, sparsest, clock)
        if exact is not None:
            return exact
    search = general_search(losses, solver, lazy, clock)
    limits = no_limits(losses.candidates)
    least = search.least_loss(limits, clock)
    if least.network is None and (clock.interrupted or least.outcome == "interrupted"):
        raise KeyboardInterrupt
    network = least.network
    if network is None:
        # There was no time to find any: all lines together are a network too.
        network = np.ones(len(losses.candidates.lines), dtype=np.bool_)
    bound, outcome = max(0.0, least.bound), least.outcome
    lines_bound = float(losses.candidates.known.sum())
    if sparsest and least.network is not None and outcome != "interrupted":
        ones = np.ones(len(network))
        fewest = search.cheapest(ones, least.value, limits, clock)
        if fewest.network is not None and fewest.value < network.sum():
            network = fewest.network
        if outcome == "optimal":
            lines_bound = max(lines_bound, float(np.ceil(fewest.bound - ACCEPT_TOL)))
        outcome = outcome if outcome != "optimal" else fewest.outcome
    loss = float(losses.nearest(network)[0].mean())
    return Solved(network, loss, bound, lines_bound, outcome, search)


def general_search(losses: NetworkLosses, solver: Solver, lazy: bool, clock: Clock) -> Search:
    """Return the search that serves any loss."""
    candidates = losses.candidates
    n_networks = 2.0 ** np.count_nonzero(~candidates.known)
    n_losses = n_networks * losses.n_samples
    entries = n_losses * candidates.outside_capacity.size
    small = n_losses <= MAX_LOSSES and entries <= MAX_ENTRIES
    if solver == "enumeration" or (solver == "auto" and small):
        return EnumerationSearch(losses, clock)
    return FlowSearch(losses, lazy)


def _solve_by_cuts(losses: NetworkLosses, sparsest: bool, clock: Clock) -> Solved | None:
    """Return a network of zero loss; None if there is none."""
    cuts = find_tight_cuts(losses, clock)
    if cuts is None:
        return None
    search = CutSearch(losses, cuts)
    limits = no_limits(losses.candidates)
    ones = np.ones(len(losses.candidates.lines))
    found = search.cheapest(ones if sparsest else 0.0 * ones, 0.0, limits, clock)
    if found.network is None:
        return None
    loss = float(losses.nearest(found.network)[0].mean())
    lines_bound = found.bound if sparsest else float(losses.candidates.known.sum())
    # No loss is negative, so a loss that cannot be told from zero is its own bound.
    bound = max(0.0, loss - losses.tolerance)
    return Solved(found.network, loss, bound, lines_bound, found.outcome, search)


def training_result(
    name: str, losses: NetworkLosses, solved: Solved, clock: Clock
) -> TrainingResult:
    """Say how a network was learned."""
    costs, demands, decisions = losses.samples
    returned = dispatch_of(losses.candidates, solved.network, demands, costs)
    ties = [len(price_levels(prices)) < len(prices) - 1 for prices in costs]
    details = {"lines": float(solved.network.sum()), "lower bound on lines": solved.lines_bound}
    if isinstance(solved.search, FlowSearch):
        details["samples in the program"] = float(len(solved.search.flows.samples))
    warnings = []
    status: Status = "interrupted" if clock.interrupted else "time limit"
    if solved.outcome in ("optimal", "interrupted"):
        status = solved.outcome
    if status != "optimal":
        what = "the time ended" if status == "time limit" else "the fit was interrupted"
        warnings.append(f"{what} before the network was proved to be the best")
    if losses.n_samples == 1:
        warnings.append("one sample says little about lines; see identify()")
    return TrainingResult(
        status,
        name,
        solved.loss,
        float(losses.loss.lengths(returned - decisions).mean()),
        n_iter=solved.search.n_solves,
        seconds=clock.seconds,
        lower_bound=min(solved.loss, solved.loss_bound),
        tied_share=float(np.mean(ties)),
        details=details,
        warnings=warnings,
    )


def line_frequencies(
    search: Search,
    n_draws: int,
    generator: np.random.Generator,
    solver: Solver,
    lazy: bool,
    clock: Clock,
) -> Array:
    """Return the share of draws in which each line is learned."""
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


def _shares(total: Array, done: int, asked: int) -> Array:
    """Return the shares of the finished draws, with a warning where some are missing."""
    if not done:
        raise TimeLimitError("bootstrap: max_seconds was over before the first draw was solved")
    if done < asked:
        text = f"bootstrap: there was time for {done} of {asked} draws"
        warnings.warn(text, FeaslearnWarning, stacklevel=4)
    return total / done


def _from_table(search: EnumerationSearch, rows: NDArray[np.int64]) -> Array:
    """Return the mean of the sparsest best networks of a draw."""
    counts = np.bincount(rows, minlength=search.table.shape[1]) / len(rows)
    drawn = counts > 0
    means = search.table[:, drawn] @ counts[drawn]
    best = search.networks[means <= means.min() + search.losses.tolerance]
    sizes = best.sum(axis=1)
    return np.asarray(best[sizes == sizes.min()].mean(axis=0))
