"""Roles of columns: tests whether costs, decisions and signals are what they were given as."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import fdtrc

from feaslearn.arrays import Array
from feaslearn.costs import AffineCost, FunctionCost, ResolvedCost
from feaslearn.data import Names
from feaslearn.messages import list_first
from feaslearn.tolerances import LSTSQ_TOL, RANK_TOL, SAME_TOL, TINY, VISIBLE_TOL

#: Fewer rows than this, or than so many beside each signal and price, are too few to test.
FEWEST_ROWS, BESIDE = 20, 10
#: Most rows and columns that are tested, and rows whose decisions are compared with each other.
MOST_ROWS, MOST_COLUMNS, COMPARED = 2000, 200, 400
#: Standard errors beyond which something is no chance, and within which it may be.
SURE, CHANCE = 3.5, 2.0
#: Probability below which signals explain by more than chance, and above which they may not; share
#: of the deviation of a price that they leave.
EXPLAINED, BY_CHANCE, UNEXPLAINED = 1e-6, 0.05, 0.3
#: What one unit is in another one: thousands, hours, minutes, joules.
UNITS = (1e3, 1e6, 1e2, 3.6, 3.6e3, 60.0, 24.0, 8760.0)
#: A decision so many times larger than all others may be in another unit: half of a thousand, in
#: powers.
FAR_APART = 1e3**0.5
#: Names in a message.
NAMED = 3

Level = Literal["ok", "note", "no", "unknown"]


class Finding(NamedTuple):
    """The outcome of one check: what it tested, how it went, and what to do."""

    check: str
    level: Level
    text: str
    repair: str = ""

    def __str__(self) -> str:
        return f"{self.text}. {self.repair}" if self.repair else self.text


class Roles(NamedTuple):
    """Columns in the roles they were given, of complete rows.

    ``signals`` (N, K) are those without the columns of the cost, ``costs`` (N, n) as given, before
    any sense, ``maximises`` whether they are to be maximised. ``sums`` are the number of all rows
    and the sums of their costs and squared costs, where these are more than are given.
    """

    signals: Array
    costs: Array
    decisions: Array
    signal_names: Sequence[str]
    cost_names: Sequence[str]
    decision_names: Sequence[str]
    maximises: bool = False
    sums: tuple[float, Array, Array] | None = None

    @classmethod
    def of(
        cls,
        signals: Array,
        costs: Array,
        decisions: Array,
        names: Names,
        cost: ResolvedCost | None,
        maximises: bool,
    ) -> Roles:
        """Return columns in the roles that a cost gives them."""
        used = () if cost is None else cost.columns
        others = [j for j in range(len(names.signals)) if j not in used]
        return cls(
            signals[:, others],
            costs,
            decisions,
            [names.signals[j] for j in others],
            name_costs(cost, names),
            names.decisions,
            maximises,
        )

    @property
    def sign(self) -> float:
        """The sign that makes costs something to be minimised."""
        return -1.0 if self.maximises else 1.0


def name_costs(cost: ResolvedCost | None, names: Names) -> list[str]:
    """Return the names of the columns that hold costs, or "cost of" each decision."""
    columns = () if cost is None else cost.columns
    if cost is None or isinstance(cost.specification, AffineCost | FunctionCost) or not columns:
        return [f"cost of {name}" for name in names.decisions]
    return [names.signals[j] for j in columns]


def check_roles(roles: Roles) -> list[Finding]:
    """Return what the data show about the roles of columns, worst first."""
    scaled = _standardized(roles)
    roles = _complete(roles)
    too_few = _too_few(roles)
    exact = [_same_column(roles), scaled]
    if too_few is not None:
        return [*(found for found in exact if found.level == "no"), too_few]
    study = _Study(roles)
    checks: list[Callable[[_Study], Finding | None]] = [
        _swapped,
        _demands,
        _order,
        _sense,
        _shuffled,
    ]
    # One mistake has several signs: the first check that knows it is asked alone.
    first = next((found for check in checks if (found := check(study)) is not None), None)
    findings = [*exact, _units(study), study.verdict() if first is None else first]
    order = {"no": 0, "note": 1, "unknown": 2, "ok": 3}
    return sorted(findings, key=lambda each: order[each.level])


def _complete(roles: Roles) -> Roles:
    """Return the rows without gaps, of many some, and no signals that are costs."""
    gaps = [np.isnan(part).any(axis=1) for part in (roles.signals, roles.costs, roles.decisions)]
    rows = np.flatnonzero(~np.any(gaps, axis=0))
    rows = rows[:: max(1, -(-len(rows) // MOST_ROWS))]
    signals, costs = roles.signals[rows], roles.costs[rows]
    kept = [j for j, s in enumerate(signals.T) if not (costs == s[:, None]).all(axis=0).any()]
    return roles._replace(
        signals=signals[:, kept],
        costs=costs,
        decisions=roles.decisions[rows],
        signal_names=[roles.signal_names[j] for j in kept],
    )


def _too_few(roles: Roles) -> Finding | None:
    """Say why roles cannot be tested, None if they can."""
    count, columns = len(roles.decisions), roles.signals.shape[1] + roles.costs.shape[1]
    if count < max(FEWEST_ROWS, columns + BESIDE):
        text = f"too few rows to tell: {count} complete ones for {columns} signals and prices"
        return Finding("roles", "unknown", text)
    if columns > MOST_COLUMNS:
        return Finding("roles", "unknown", f"too many columns to tell: {columns}")
    if not (np.ptp(roles.costs, axis=0) > 0.0).any():
        return Finding("roles", "unknown", "prices never vary: roles cannot be tested")
    if not (np.ptp(roles.decisions, axis=0) > 0.0).any():
        return Finding("roles", "unknown", "decisions never vary: roles cannot be tested")
    return None


# Checks of values alone.


def _same_column(roles: Roles) -> Finding:
    """Look for a decision among the signals and the costs."""
    found = []
    columns = [*zip(roles.signal_names, roles.signals.T, strict=True)]
    columns += [*zip(roles.cost_names, roles.costs.T, strict=True)]
    for name, values in zip(roles.decision_names, roles.decisions.T, strict=True):
        size = float(np.ptp(values)) if len(values) else 0.0
        for signal, others in columns:
            if size > 0.0 and np.abs(values - others).max() <= SAME_TOL * size:
                found.append(f"{signal!r} is {name!r}")
    if not found:
        return Finding("signals", "ok", "no decision is among the signals")
    return Finding(
        "signals",
        "no",
        f"a signal is the decision itself in every row: {list_first(found[:NAMED], len(found))}",
        "Leave it out of the signals: it will not be known when decisions are predicted (a limit "
        "that always binds looks the same)",
    )


def _standardized(roles: Roles) -> Finding:
    """Look for costs that a StandardScaler has been through."""
    costs = roles.costs[~np.isnan(roles.costs).any(axis=1)]
    count, total, squares = roles.sums or (len(costs), costs.sum(axis=0), (costs**2).sum(axis=0))
    if count < 3:
        return Finding("prices", "ok", "prices are in units")
    # Deviations are divided by the number of rows, or by one less.
    one = np.abs(squares[:, None] / (count - np.arange(2.0)) - 1.0).min(axis=1)
    scaled = (np.abs(total) <= SAME_TOL * count) & (one <= SAME_TOL)
    names = [repr(roles.cost_names[int(j)]) for j in np.flatnonzero(scaled)]
    if not names:
        return Finding("prices", "ok", "prices are in units")
    return Finding(
        "prices",
        "no",
        f"prices have mean 0 and standard deviation 1: {list_first(names[:NAMED], len(names))}. "
        "Standardised prices are others, under which other decisions are optimal",
        "Give prices as they are, and scale only what the region depends on, with "
        "RegionRegressor(features=StandardScaler()) (--features scale)",
    )


# Checks of how columns move together.


class _Study:
    """Decisions and costs without what signals explain of them, in units of their spread."""

    def __init__(self, roles: Roles) -> None:
        self.roles = roles
        N = len(roles.decisions)
        self.inputs = np.column_stack([np.ones(N), _standard(roles.signals)])
        costs = roles.sign * roles.costs
        self.free = N - self.inputs.shape[1] - costs.shape[1]
        self.moving = np.ptp(roles.decisions, axis=0) > VISIBLE_TOL * np.maximum(
            np.abs(roles.decisions).max(axis=0), TINY
        )
        self.x = _residual(self.inputs, roles.decisions)
        self.c = _residual(self.inputs, costs)
        self.costs = costs
        self.some = slice(None, None, -(-N // COMPARED))
        self.given = self.cheaper(costs)

    def demand(self, costs: Array) -> float:
        r"""Return :math:`\sum_i c_i'x_i` of what signals leave, in standard errors.

        Cheaper decisions are taken more: with regions alike it is never positive.
        """
        total = float(np.sum(costs * self.x))
        spread = float(np.sum((costs.T @ costs) * (self.x.T @ self.x)))
        return total * np.sqrt(len(costs)) / np.sqrt(spread) if spread > 0.0 else 0.0

    def cheaper(self, costs: Array, rows: slice | None = None) -> Array:
        """Return the share of decisions that are cheaper than that of each row, at its costs.

        It is zero where decisions are optimal in one region, or in one that signals move, and a
        half where costs do not matter.
        """
        rows = self.some if rows is None else rows
        return _cheaper(costs[rows], self.roles.decisions[rows], self.x[rows])

    def slopes(self, rows: slice = slice(None)) -> Array:
        """Return the t statistic of each decision (row) with each price (column)."""
        x, c = self.x[rows], _standard(self.c[rows])
        solve = np.linalg.pinv(c.T @ c, rcond=RANK_TOL, hermitian=True)
        slopes = solve @ (c.T @ x)
        left = x - c @ slopes
        variance = (left**2).sum(axis=0) / max(1, len(x) - len(self.x) + self.free)
        errors = np.sqrt(np.maximum(np.outer(np.diag(solve), variance), TINY))
        t = np.divide(slopes, errors, out=np.zeros_like(slopes), where=errors > TINY**0.25)
        return np.asarray(t.T)

    @property
    def rank(self) -> int:
        """In how many directions prices vary."""
        return int(np.linalg.matrix_rank(_standard(self.c), tol=RANK_TOL * np.sqrt(len(self.c))))

    def verdict(self) -> Finding:
        """Say what was found where nothing is wrong."""
        z = self.demand(self.c)
        if z > -CHANCE:
            return Finding("roles", "unknown", "decisions hardly move with prices: cannot tell")
        word = "maximised" if self.roles.maximises else "minimised"
        moving = int(self.moving.sum())
        falls = int((np.diag(self.slopes())[self.moving] < 0.0).sum())
        side = "rise" if self.roles.maximises else "fall"
        return Finding(
            "roles",
            "ok",
            f"cost is {word}: {falls} of {moving} decisions that move {side} with their price",
        )


def _standard(values: Array) -> Array:
    """Return columns without their mean, in standard deviations; constant ones are zero."""
    centred = values - values.mean(axis=0)
    spread = centred.std(axis=0)
    size = np.maximum(np.abs(values).max(axis=0, initial=0.0), TINY)
    return np.asarray(np.where(spread > RANK_TOL * size, centred / np.maximum(spread, TINY), 0.0))


def _residual(inputs: Array, outputs: Array) -> Array:
    """Return outputs without what is linear in the inputs, zero where that is all."""
    left = outputs - inputs @ np.linalg.lstsq(inputs, outputs, rcond=LSTSQ_TOL)[0]
    spread = outputs.std(axis=0)
    return np.asarray(np.where(left.std(axis=0) > VISIBLE_TOL * spread, left, 0.0))


def _explained(inputs: Array, outputs: Array) -> float:
    """Return the least probability over outputs that inputs explain them so well by chance."""
    moving = outputs[:, np.ptp(outputs, axis=0) > 0.0]
    size = int(np.linalg.matrix_rank(inputs)) - 1
    freedom = len(inputs) - 1 - size
    if not moving.shape[1] or size < 1 or freedom < 1:
        return 1.0
    left = moving - inputs @ np.linalg.lstsq(inputs, moving, rcond=LSTSQ_TOL)[0]
    noise = np.maximum((left**2).sum(axis=0), TINY)
    total = ((moving - moving.mean(axis=0)) ** 2).sum(axis=0)
    ratios = (total - noise) / size / (noise / freedom)
    least = min(float(fdtrc(size, freedom, max(0.0, ratio))) for ratio in ratios)
    return float(min(1.0, least * moving.shape[1]))


def _cheaper(costs: Array, *decisions: Array) -> Array:
    """Return the share of decisions cheaper than that of each row; the least of several."""
    found = [np.full(len(costs), 0.5)]
    for each in decisions:
        if not np.ptp(each, axis=0).any():
            continue
        values = costs @ each.T
        margin = SAME_TOL * np.abs(values).max(axis=1, keepdims=True)
        found.append((values < np.diag(values)[:, None] - margin).mean(axis=1))
    return np.asarray(min(found, key=np.mean))


def _standard_errors(differences: Array) -> float:
    """Return a mean in standard errors."""
    error = float(differences.std()) / np.sqrt(len(differences))
    return float(differences.mean() / max(error, SAME_TOL))


def _swapped(study: _Study) -> Finding | None:
    """Look for decisions given as costs, and costs as decisions."""
    roles, some = study.roles, study.some
    costs, decisions = roles.costs, roles.decisions
    left, spread = study.c.std(axis=0), costs.std(axis=0)
    if (left <= UNEXPLAINED * spread)[spread > 0.0].any():
        return None  # signals that are functions of prices
    # Who decides minimises; prices do not, whatever the decisions.
    exchanged = _cheaper(decisions[some], study.costs[some], study.c[some])
    best = min(study.given, study.cheaper(-study.costs), key=np.mean)
    saved = _standard_errors(best - exchanged)
    # Signals explain decisions more than prices.
    explained = saved > 0.0 and _explained(study.inputs, costs) < EXPLAINED
    if saved < SURE and not (explained and _explained(study.inputs, decisions) > BY_CHANCE):
        return None
    return Finding(
        "roles",
        "no",
        "columns given as costs behave as decisions: signals explain them, or they are cheapest at "
        "those given as decisions; of these neither is true",
        "Are decisions and costs swapped?",
    )


def _demands(study: _Study) -> Finding | None:
    """Look for demands given as costs: decisions add up to something with these columns in it."""
    roles = study.roles
    total = roles.decisions.sum(axis=1)
    inputs = np.column_stack([study.inputs, _standard(roles.costs)])
    if len(total) <= inputs.shape[1] + BESIDE or not total.std() > 0.0:
        return None
    left = _residual(study.inputs, total[:, None])[:, 0]
    found = np.linalg.lstsq(inputs, total, rcond=LSTSQ_TOL)[0]
    exact = np.abs(total - inputs @ found).max() <= 1e3 * VISIBLE_TOL * total.std()
    falls = study.demand(study.c) < -CHANCE
    if falls or not (exact and left.std() > 0.05 * total.std()):
        return None
    slopes = found[study.inputs.shape[1] :]
    moved = np.abs(slopes) > 0.05 * total.std()
    names = [repr(roles.cost_names[int(j)]) for j in np.flatnonzero(moved)]
    return Finding(
        "roles",
        "no",
        "the sum of the decisions is that of signals, among them columns given as costs: "
        f"{list_first(names[:NAMED], len(names))}",
        "These look like demands; give the prices of the decisions as cost",
    )


def _order(study: _Study) -> Finding | None:
    """Look for prices in another order: found in half of the rows, confirmed in the other half."""
    n = study.roles.decisions.shape[1]
    if n < 2 or study.rank < 2:
        return None
    order = linear_sum_assignment(study.slopes(slice(0, None, 2)))[1]
    moved = np.flatnonzero((order != np.arange(n)) & study.moving).tolist()
    t = study.slopes(slice(1, None, 2))
    # Decisions fall with their price.
    falls = sum(t[j, j] - t[j, order[j]] for j in moved) / np.sqrt(2.0 * max(1, len(moved)))
    if falls < SURE:
        return None
    half = slice(1, None, 2 * (-(-len(study.x) // (2 * COMPARED))))
    given, other, opposite = (
        study.cheaper(costs, half) for costs in (study.costs, study.costs[:, order], -study.costs)
    )
    # The other sense is the simpler explanation.
    if _standard_errors(opposite - other) < CHANCE or _standard_errors(given - other) < SURE:
        return None
    names = study.roles
    pairs = [
        f"{names.decision_names[j]!r} moves against {names.cost_names[int(order[j])]!r}, but "
        f"{names.cost_names[j]!r} is given as its price"
        for j in sorted(moved, key=lambda j: t[j, order[j]])
    ]
    return Finding(
        "order",
        "no",
        list_first(pairs[:NAMED], len(pairs)),
        "Give the costs in the order of the decisions",
    )


def _sense(study: _Study) -> Finding | None:
    """Look for costs that are minimised where they were to be maximised, or the other way."""
    if study.demand(study.c) < SURE:
        return None
    given, other = ("max", "min") if study.roles.maximises else ("min", "max")
    moves = "fall" if study.roles.maximises else "rise"
    return Finding(
        "sense",
        "no",
        f"decisions {moves} with their prices, against sense={given!r}",
        f"Use sense={other!r} (--sense {other}), or check the order of the costs, and whether they "
        "are prices",
    )


def _shuffled(study: _Study) -> Finding | None:
    """Look for decisions that have nothing to do with signals and prices of their rows."""
    # Decisions of the rows half of all rows further on.
    others = study.cheaper(np.roll(study.costs, len(study.x) // 2, axis=0))
    if study.demand(study.c) < -CHANCE or _standard_errors(others - study.given) > CHANCE:
        return None
    inputs = np.column_stack([study.inputs, _standard(study.costs)])
    if _explained(inputs, study.roles.decisions) < BY_CHANCE:
        return None
    return Finding(
        "rows",
        "no",
        "neither signals nor prices explain any of the decisions, which are no cheaper than those "
        "of other rows",
        "Do the rows of decisions and signals belong together?",
    )


def _units(study: _Study) -> Finding:
    """Look for one decision in another unit: it counts as one of the others times 1000 or so."""
    found = _unit_of_balance(study)
    if found is None:
        found = _unit_of_costs(study)
    if found is None:
        return Finding("units", "ok", "decisions seem to be in one unit")
    which, times = found
    name = repr(study.roles.decision_names[which])
    rate = f"one of {name} counts as {times:.4g} of the others"
    if times < 1.0:
        rate = f"{1.0 / times:.4g} of {name} count as one of the others"
    repair = "Is it in another unit than the others?"
    return Finding("units", "no", f"decisions add up, or are cheapest, only if {rate}", repair)


def _unit_of_balance(study: _Study) -> tuple[int, float] | None:
    """Return the decision whose coefficient in the balance is a unit, and that."""
    decisions = study.roles.decisions
    movers = np.flatnonzero(study.moving)
    if len(movers) < 3:
        return None
    spread = decisions[:, movers].std(axis=0)
    sizes, V = np.linalg.svd(study.x[:, movers] / spread, full_matrices=False)[1:]
    if (sizes <= 1e-5 * sizes.max(initial=TINY)).sum() != 1:
        return None
    row = np.abs(V[-1] / spread)
    for k, factor in enumerate(row):
        rest = np.delete(row, k)
        least = min(float(rest.min()), factor / RANK_TOL)
        if least <= TINY or rest.max() > 1.05 * least:
            continue
        times = float(factor / np.median(rest))
        if any(abs(max(times, 1.0 / times) / unit - 1.0) < 0.01 for unit in UNITS):
            return int(movers[k]), times
    return None


def _unit_of_costs(study: _Study) -> tuple[int, float] | None:
    """Return the decision that others are cheapest with if it counts as a thousand, or as one.

    It has to be far larger or smaller than all of them as given, and decisions to cost more where
    it counts even more. In a wrong unit one decision counts instead of all, so that the difference
    is large.
    """
    sizes = study.x.std(axis=0)
    movers = np.flatnonzero(study.moving & (sizes > TINY))
    best, sure = None, SURE
    for k in movers:
        others = sizes[movers[movers != k]]
        low, high = others.min(initial=np.inf), others.max(initial=0.0)
        if not len(others) or low / FAR_APART <= sizes[k] <= high * FAR_APART:
            continue
        times = 1e-3 if sizes[k] > high else 1e3
        once, twice = (
            study.cheaper(study.costs * np.where(np.arange(len(sizes)) == k, each, 1.0))
            for each in (times, times**2)
        )
        errors = _standard_errors(study.given - once)
        if errors > sure and once.mean() <= min(twice.mean(), 0.5 * study.given.mean()):
            best, sure = (int(k), times), errors
    return best
