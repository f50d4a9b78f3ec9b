"""Loss first, then lines: which search to ask, and in which order."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from feaslearn.baselines.enumerated_network import equality_tolerance
from feaslearn.losses.network_losses import NetworkLosses
from feaslearn.network.cut_search import CutSearch
from feaslearn.network.enumeration_search import EnumerationSearch
from feaslearn.network.flow_program import price_levels
from feaslearn.network.flow_search import FlowSearch
from feaslearn.network.integer_program import Outcome
from feaslearn.network.search import LineSearch, Network, Search, no_limits
from feaslearn.network.tight_cuts import find_tight_cuts
from feaslearn.problem.network_samples import dispatch_of
from feaslearn.results import Status, TrainingResult
from feaslearn.runs import Clock

Solver = Literal["auto", "milp", "enumeration"]

#: Enumeration is taken if it reads no more entries of cuts than this.
ENUMERATED_ENTRIES = 2**33
ENUMERATED_LOSSES = 2**25
#: Networks that tell how long one takes, and the share of a time limit that all of them may take.
LOOKED_AT, ENUMERATION_SHARE = 16, 0.5


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
    """Find a network of least loss and, of these, one with the fewest lines.

    Parameters
    ----------
    losses : NetworkLosses
        The samples and their loss.
    solver : {"auto", "milp", "enumeration"}
        Which search to ask.
    lazy : bool
        Whether samples are added to the integer program as they are needed.
    sparsest : bool
        Whether the number of lines matters.
    clock : Clock
        The time there is.

    Returns
    -------
    Solved
        The network; each loss in it was measured exactly.
    """
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
            lines_bound = max(lines_bound, float(np.ceil(fewest.bound - 1e-6)))
        outcome = outcome if outcome != "optimal" else fewest.outcome
    loss = float(losses.nearest(network)[0].mean())
    return Solved(network, loss, bound, lines_bound, outcome, search)


def general_search(losses: NetworkLosses, solver: Solver, lazy: bool, clock: Clock) -> Search:
    """Return the search that serves any loss.

    Parameters
    ----------
    losses : NetworkLosses
        The samples and their loss.
    solver : {"auto", "milp", "enumeration"}
        Which search to ask; "auto" enumerates where there are few networks, and time for them.
    lazy : bool
        Whether samples are added to the integer program as they are needed.
    clock : Clock
        The time there is.

    Returns
    -------
    Search
        The search.
    """
    candidates = losses.candidates
    n_networks = 2.0 ** np.count_nonzero(~candidates.known)
    n_losses = n_networks * losses.n_samples
    entries = n_losses * candidates.beyond.size
    small = n_losses <= ENUMERATED_LOSSES and entries <= ENUMERATED_ENTRIES
    if solver == "enumeration" or (solver == "auto" and small and _in_time(losses, clock)):
        return EnumerationSearch(losses, clock)
    return FlowSearch(losses, lazy)


def _in_time(losses: NetworkLosses, clock: Clock) -> bool:
    """Say whether all networks can be looked at in a part of the time, by looking at some."""
    networks = 2.0 ** np.count_nonzero(~losses.candidates.known)
    if not clock.limited or networks <= LOOKED_AT:
        return True
    before = clock.seconds
    losses.of(np.ones((LOOKED_AT, len(losses.candidates.lines)), dtype=np.bool_))
    return bool((clock.seconds - before) * networks / LOOKED_AT <= ENUMERATION_SHARE * clock.left)


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
    bound = max(0.0, loss - equality_tolerance(losses))
    return Solved(found.network, loss, bound, lines_bound, found.outcome, search)


def training_result(
    name: str, losses: NetworkLosses, solved: Solved, clock: Clock
) -> TrainingResult:
    """Say how a network was learned.

    Parameters
    ----------
    name : str
        The learner, with its parameters.
    losses : NetworkLosses
        The samples and their loss.
    solved : Solved
        What was found.
    clock : Clock
        How long it took, and whether the user ended it.

    Returns
    -------
    TrainingResult
        Status, bounds, time.
    """
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
