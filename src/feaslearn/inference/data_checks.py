"""Checks of a table before a fit: gaps, variation, balances, and limits that it cannot show."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from feaslearn.arrays import Array, Indices
from feaslearn.data import Block
from feaslearn.inference.roles import FEWEST_ROWS, Finding, Roles, check_roles
from feaslearn.messages import list_first, row_number
from feaslearn.solvers.highs import CheckedProgram
from feaslearn.tolerances import (
    LSTSQ_TOL,
    SAME_TOL,
    TINY,
    VISIBLE_TOL,
    ZERO_PRICE,
    extent_of,
    powers_of_two,
)
from feaslearn.trainers.facets.exceptional import exceptional_rows
from feaslearn.trainers.facets.rows import grid_step
from feaslearn.trainers.standardize import moments

#: Names in a message.
NAMED = 4
#: Relative spread of prices below which hardly anything can be learned.
STILL = 0.01
#: A gap above the least value this large beside the range, and so many usual spacings, is a
#: switch; share of rows that must be off.
GAP, SPACINGS, OFF = 0.05, 3.0, 0.005
#: Rows at an end that make it one where decisions rest.
RESTING = 2
#: Rows that are compared with mixtures of others, in so many seconds.
MOST_ROWS, MOST_SECONDS = 300, 3.0
#: Share of a decision's variance, away from its ends, that is linear in prices: of one that jumps
#: at some price it is at most 3/4 (a step over uniform prices; 2/pi over normal ones).
SMOOTH, END = 0.75, 0.05
#: A residual of the balance below this share of the spread is rounding.
BALANCED = 1e-3


def check_data(roles: Roles) -> list[Finding]:
    """Return the findings about a table, in the order in which they are read."""
    found = [_complete(roles)]
    table = np.hstack([roles.signals, roles.costs, roles.decisions])
    complete = np.flatnonzero(~np.isnan(table).any(axis=1))
    rows = roles._replace(
        signals=roles.signals[complete],
        costs=roles.costs[complete],
        decisions=roles.decisions[complete],
    )
    found += sorted(check_roles(roles), key=lambda each: each.level == "ok")
    if len(rows.decisions) < FEWEST_ROWS:
        return found
    found += [_prices(rows), _signals(rows), _balance(rows, complete), _consistent(rows, complete)]
    return [*found, _linear_cost(rows), *_decisions(rows)]


def _complete(roles: Roles) -> Finding:
    """Count gaps and repeated rows."""
    both = np.hstack([roles.signals, roles.costs])
    blank = np.isnan(both).any(axis=1)
    gaps = np.isnan(roles.decisions)
    parts = []
    if blank.any():
        parts.append(f"{int(blank.sum())} rows with a missing signal or price")
    if gaps.any():
        parts.append(f"{int(gaps.sum())} missing decisions in {int(gaps.any(axis=1).sum())} rows")
    table = np.nan_to_num(np.hstack([both, roles.decisions]), nan=np.inf)
    again = len(table) - len(np.unique(table, axis=0))
    if again:
        parts.append(f"{again} repeated rows")
    if not parts:
        return Finding("complete", "ok", "no missing values, no repeated rows")
    if blank.any():
        repair = "--drop-missing leaves rows with missing signals out; missing decisions are used"
        return Finding("complete", "no", ", ".join(parts), repair)
    repair = "Missing decisions are left out one by one" if gaps.any() else "They count twice"
    return Finding("complete", "note", ", ".join(parts), repair)


def _prices(rows: Roles) -> Finding:
    """Say how much prices vary, and in how many orders."""
    size = np.maximum(np.abs(rows.costs).mean(axis=0), TINY)
    spread = rows.costs.std(axis=0) / size
    orders = len(np.unique(np.argsort(rows.costs, axis=1, kind="stable"), axis=0))
    text = (
        f"by {100 * spread.min():.3g} to {100 * spread.max():.3g} %; {orders} different orders of "
        f"{rows.costs.shape[1]} prices"
    )
    if spread.max() < STILL:
        repair = "Prices that hardly move show hardly any limits"
        return Finding("prices vary", "note", text, repair)
    return Finding("prices vary", "ok", text)


def _signals(rows: Roles) -> Finding:
    """Say in how many dimensions other signals vary."""
    count = rows.signals.shape[1]
    if not count:
        return Finding("signals span", "ok", "none besides prices: the region is always the same")
    centred = rows.signals - rows.signals.mean(axis=0)
    spread = np.maximum(centred.std(axis=0), TINY)
    rank = int(np.linalg.matrix_rank(np.where(spread > TINY, centred / spread, 0.0)))
    text = f"{count} signals besides prices span {rank} dimensions"
    if rank < count:
        return Finding("signals span", "note", text, "Some are constant, or combinations of others")
    return Finding("signals span", "ok", text)


def _balance(rows: Roles, indices: Indices) -> Finding:
    """Say whether decisions add up to something that signals tell."""
    total = rows.decisions.sum(axis=1)
    spread = float(rows.decisions.std(axis=0).max(initial=0.0))
    inputs = np.column_stack([np.ones(len(total)), rows.signals])
    if rows.decisions.shape[1] < 2 or len(total) < inputs.shape[1] + FEWEST_ROWS or not spread:
        return Finding("balance", "ok", "not looked for")
    odd = exceptional_rows(inputs, rows.sign * rows.costs, rows.decisions)
    slopes = np.linalg.lstsq(inputs[~odd], total[~odd], rcond=LSTSQ_TOL)[0]
    left = float(np.abs(total - inputs @ slopes)[~odd].max())
    if left > BALANCED * spread:
        return Finding("balance", "ok", "decisions do not add up to a combination of signals")
    used = np.abs(slopes[1:]) * rows.signals.std(axis=0) > VISIBLE_TOL * spread
    names = [rows.signal_names[int(j)] for j in np.flatnonzero(used)]
    ones = np.allclose(slopes[1:][used], 1.0, atol=1e-3)
    what = "the sum of" if ones else "a combination of"
    to = f"{what} {list_first(names[:NAMED], len(names))}" if names else f"{slopes[0]:.4g}"
    if not odd.any():
        return Finding("balance", "ok", f"decisions add up to {to}, to {left:.2g} in every row")
    numbers = [str(row_number(indices[i])) for i in np.flatnonzero(odd)]
    text = (
        f"decisions add up to {to}, to {left:.2g}, in {int((~odd).sum())} of {len(odd)} rows; not "
        f"in rows {list_first(numbers[:NAMED], len(numbers))}"
    )
    return Finding("balance", "note", text, "A fit of facets leaves these rows out")


def _consistent(rows: Roles, indices: Indices) -> Finding:
    """Say whether one region explains the rows: no mixture of others is cheaper than a row."""
    some = np.arange(0, len(indices), -(-len(indices) // MOST_ROWS))
    features = np.column_stack([np.ones(len(some)), rows.signals[some]])
    decisions = rows.decisions[some]
    block = Block(features, rows.sign * rows.costs[some], decisions, np.ones(len(some)))
    steps = [0.5 * grid_step(column) for column in decisions.T]
    error = max(VISIBLE_TOL * float(np.ptp(decisions, axis=0).max()), *steps)
    until = time.monotonic() + MOST_SECONDS
    test = find_dominated(block, error, until)
    if not test.dominated:
        text = "no row could have done better with a mixture of what others did"
        return Finding("consistent", "ok", text)
    text = f"{len(test.dominated)} of {test.tested} rows cost more than a mixture of others"
    common = [int(indices[some[i]]) + 1 for i in test.common()]
    if common and len(test.dominated) > 1:
        return Finding("consistent", "note", f"{text}, all with row {common[0]}", "Is it right?")
    repair = "Errors, curved costs, on/off, or a cause that no signal tells: no region is exact"
    return Finding("consistent", "note", text, repair)


# Regions of half-spaces: the least of them holds the mixtures of all rows.
#
# The rows :math:`a'x \le f'\phi(s)` make a convex set of pairs :math:`(\phi, x)`. It holds every
# row, so it holds their mixtures, and row i is optimal in some such region exactly when no
# mixture with its features is cheaper:
#
# .. math:: \min \{ c_i'\textstyle\sum_j \lambda_j x_j :
#     \sum_j \lambda_j \phi_j = \phi_i,\ \lambda \ge 0 \} \ge c_i'x_i


class Dominated(NamedTuple):
    """A row that costs more than a mixture of others with its features."""

    row: int
    mixture: Indices


class HullTest(NamedTuple):
    """The rows that a mixture of others dominates, and how many were tested."""

    dominated: list[Dominated]
    tested: int

    def common(self) -> list[int]:
        """Return the rows that take part in every contradiction."""
        sets = [{each.row, *each.mixture.tolist()} for each in self.dominated]
        return sorted(set.intersection(*sets)) if sets else []


def find_dominated(rows: Block, error: float, until: float) -> HullTest:
    """Look for rows that cost more than a mixture of others, beyond errors of decisions."""
    features, costs, decisions, weights = rows
    # Shares add up to one, the first feature, so the others may be moved by their means.
    mean, scale = moments([features], [weights])
    matrix = ((features - mean) / scale).T
    ends = np.zeros(len(costs)), np.full(len(costs), np.inf)
    found: list[Dominated] = []
    for i, cost in enumerate(costs):
        if time.monotonic() > until:
            return HullTest(found, i)
        size = float(np.abs(cost).sum())
        if size == 0.0:
            continue
        prices = (decisions - decisions[i]) @ (cost / size)
        # Standardized: tolerances mean the same for small prices as for large ones.
        unit = float(powers_of_two(extent_of(prices)))
        program = CheckedProgram(prices / unit, *ends, E=matrix, e=matrix[:, i])
        answer = program.solve(f"mixtures of rows (row {i})")
        saving = -answer.value * unit
        if saving > 2.0 * error:
            found.append(Dominated(i, np.flatnonzero(answer.point > ZERO_PRICE)))
    return HullTest(found, len(costs))


def _linear_cost(rows: Roles) -> Finding:
    """Look for decisions that slide with prices instead of jumping: a curved cost."""
    inputs = np.column_stack([np.ones(len(rows.signals)), rows.signals])
    both = np.column_stack([inputs, rows.costs])
    shares = []
    for values in rows.decisions.T:
        margin = END * np.ptp(values)
        inner = (values > values.min() + margin) & (values < values.max() - margin)
        if inner.sum() >= both.shape[1] + FEWEST_ROWS:
            left = [_variance(each[inner], values[inner]) for each in (inputs, both)]
            still = left[0] <= VISIBLE_TOL * np.ptp(values) ** 2
            shares.append(0.0 if still else 1.0 - left[1] / left[0])
    if shares and float(np.median(shares)) > SMOOTH:
        text = f"decisions slide with prices ({100 * np.median(shares):.0f} % of their variance)"
        repair = "Costs that rise with the decision, or round limits: facets only come near to them"
        return Finding("linear cost", "note", text, repair)
    return Finding("linear cost", "ok", "decisions do not slide with prices, as under curved costs")


def _variance(inputs: Array, values: Array) -> float:
    """Return the variance of values that is not linear in the inputs."""
    slopes, _, rank, _ = np.linalg.lstsq(inputs, values, rcond=LSTSQ_TOL)
    return float(((values - inputs @ slopes) ** 2).sum() / max(1, len(values) - rank))


def _decisions(rows: Roles) -> list[Finding]:
    """Look for decisions that never move, that switch on and off, and that never rest."""
    constant: list[str] = []
    switched: list[str] = []
    above: list[str] = []
    below: list[str] = []
    for name, values in zip(rows.decision_names, rows.decisions.T, strict=True):
        span = float(np.ptp(values))
        if span <= SAME_TOL * max(float(np.abs(values).max()), TINY):
            constant.append(f"{name} = {values[0]:.4g}")
            continue
        levels = np.unique(values)
        off = float((values <= SAME_TOL * span).mean()) if levels[0] >= -SAME_TOL * span else 0.0
        steps = np.diff(levels)
        wide = len(steps) > 2 and steps[0] > max(GAP * span, SPACINGS * float(np.median(steps)))
        if off >= OFF and abs(levels[0]) <= SAME_TOL * span and wide:
            switched.append(f"{name} (0, or {levels[1]:.4g} and more)")
        for ends, at in ((below, levels[0]), (above, levels[-1])):
            if int((np.abs(values - at) <= VISIBLE_TOL * span).sum()) < RESTING:
                ends.append(str(name))
    found = []
    if constant:
        text = f"{list_first(constant[:NAMED], len(constant))} in every row"
        repair = "Nothing can be learned about them: drop them, or expect constants"
        found.append(Finding("constant", "note", text, repair))
    if switched:
        text = f"switched on and off, it seems: {list_first(switched[:NAMED], len(switched))}"
        repair = "A convex region has no gap: expect decisions within it"
        found.append(Finding("on/off", "note", text, repair))
    else:
        found.append(Finding("on/off", "ok", "no decision has a gap above 0"))
    for ends, word, option in ((below, "lowest", "--lower"), (above, "highest", "--upper")):
        if ends:
            text = f"{list_first(ends[:NAMED], len(ends))}: never twice at a {word} value"
            repair = f'What-ifs that push there are marked "not seen". Is the limit known? {option}'
            found.append(Finding("one-sided", "note", text, repair))
    return found
