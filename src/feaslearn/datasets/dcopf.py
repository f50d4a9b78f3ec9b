"""Cheapest dispatches of a power grid read from a case file."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from numbers import Real
from typing import Literal, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.data import Decisions, Names
from feaslearn.data.matrix import as_matrix, column_names
from feaslearn.datasets._arguments import RandomState, check_common, uniform
from feaslearn.datasets.dc_grid import DcGrid
from feaslearn.datasets.linear_program import LinearProgram
from feaslearn.exceptions import (
    DataError,
    FeaslearnWarning,
    InfeasibleProblemError,
    Problems,
    checked,
)
from feaslearn.messages import list_first
from feaslearn.parameters import Integer, check_value
from feaslearn.solvers.highs import name_rows
from feaslearn.tolerances import VISIBLE_TOL

#: Samples that are solved from basis to basis, before rounding begins anew.
SOLVED_TOGETHER = 500
#: Loads that are drawn for each sample, on average, at most.
MAX_DRAWS = 20


def make_dcopf(
    case: str | os.PathLike[str] | DcGrid,
    n_samples: int | None = None,
    noise: float = 0.0,
    random_state: RandomState = None,
    *,
    variant: Literal["api", "sad"] | None = None,
    loads: ArrayLike | None = None,
    costs: ArrayLike | None = None,
    zones: int | None = None,
    load_range: tuple[float, float] = (0.7, 1.0),
    cost_range: tuple[float, float] = (0.7, 1.3),
    quadratic: Literal["refuse", "linearize"] = "refuse",
) -> Decisions:
    """Make cheapest dispatches of the generators of a power grid (DC optimal power flow).

    ``min { c'p : p serves the loads d through the lines }``, the problem of `DcGrid`; power in MW.

    Parameters
    ----------
    case : str, path or DcGrid
        The name of a PGLib-OPF case such as ``"case118_ieee"`` (needs the extra ``cases``), the
        path of a MATPOWER case file, which ends with ``.m``, or a grid that was read before.
    n_samples : int, optional
        How many decisions to make; by default one for each row of ``loads`` or ``costs``.
    noise : float, default 0.0
        The standard deviation of Gaussian noise on the decisions, in MW.
    random_state : int, Generator, RandomState or None
        Where the randomness comes from. An integer seeds ``numpy.random.SeedSequence``; the same
        seed gives the same signals and the same decisions before noise, whatever the noise.
    variant : {"api", "sad"}, optional
        The variant of a PGLib case: "api" with loads so high that lines bind, "sad" with small
        angle differences; by default typical operation.
    loads : array_like of shape (N, K), optional
        The loads in MW, one column for each zone that has a load (for each bus without zones), in
        their order; a frame with their names may have them in any order. By default drawn: the
        load of each zone in the file times an independent number, uniform on ``load_range``.
    costs : array_like of shape (N, G), optional
        The cost of each generator that can be dispatched, in money for a MWh. By default drawn:
        the linear cost in the file times an independent number, uniform on ``cost_range``.
    zones : int, optional
        Number of zones whose buses share a signal; within a zone the loads keep the proportions
        of the file. The buses are dealt out in turn: bus 1 to zone 1, ..., bus k + 1 to zone 1
        again. By default every bus with a load has a signal.
    load_range, cost_range : pair of float
        What loads and costs of the file are multiplied with where they are drawn.
    quadratic : {"refuse", "linearize"}, default "refuse"
        What to do where costs are drawn and those of the file are curves: refuse, or take each
        generator's marginal cost in the middle of its range.

    Returns
    -------
    Decisions
        Signals ``cost_g1``, ... (generators by their row in the file), then ``load_1``, ... (bus
        numbers) or ``load_z1``, ... (zones); decisions ``p_g1``, ...; the grid as ``forward``.
        Generators that cost the same, such as nothing, are tied: which of them runs is arbitrary.

    Warns
    -----
    FeaslearnWarning
        If loads were drawn that the grid cannot serve. They are drawn again, so that the samples
        are uniform on the loads that can be served; the warning counts them.

    Examples
    --------
    >>> from feaslearn.datasets import make_dcopf
    >>> data = make_dcopf("case5_pjm", 3, variant="api", random_state=0)
    >>> data.names.signals[4:]
    ('cost_g5', 'load_2', 'load_3', 'load_4')
    >>> served = data.decisions.sum(axis=1) - data.signals[:, 5:].sum(axis=1)
    >>> bool(abs(served).max() < 1e-6)
    True
    """
    problems = Problems()
    grid = case if isinstance(case, DcGrid) else DcGrid(case, variant)
    if grid is case and variant is not None:
        problems.add(f"variant is {variant!r}, but the grid has been read: say so to DcGrid")
    zoned = resolve_zones(problems, grid, zones)
    given_costs = _given(problems, "costs", costs, tuple(_cost_names(grid)))
    given_loads = _given(problems, "loads", loads, zoned.names if zoned else None)
    count = _count(problems, n_samples, loads=given_loads, costs=given_costs)
    draw = check_common(problems, count, noise, random_state)
    _check_range(problems, "load_range", load_range)
    _check_range(problems, "cost_range", cost_range)
    nominal = _nominal_costs(problems, grid, quadratic) if costs is None else None
    zoned = checked(zoned, problems, f"make_dcopf: {grid.name}")
    # Without a problem one of the two is there.
    prices = cast(Array, given_costs)
    if nominal is not None:
        prices = nominal * uniform(draw.streams.signals, count, [cost_range] * len(nominal))
    names = Names((*_cost_names(grid), *zoned.names), tuple(f"p_g{g}" for g in grid.generators))
    program = grid.linear_program(zoned.shares, zoned.fixed, len(names.signals))

    def draw_loads(n: int) -> Array:
        return zoned.nominal * uniform(draw.streams.signals, n, [load_range] * len(zoned.nominal))

    if given_loads is not None:
        signals = np.hstack([prices, given_loads])
        decisions = _dispatch(program, signals, prices)
        unserved = np.flatnonzero(np.isnan(decisions[:, 0]))
        if len(unserved):
            raise InfeasibleProblemError(
                f"make_dcopf: {grid.name} cannot serve the loads of {name_rows(unserved)} "
                f"(together {given_loads[unserved[0]].sum():.6g} MW in the first of them; in the "
                f"file {zoned.nominal.sum():.6g} MW, generators up to {grid.upper.sum():.6g} MW): "
                "lower these loads or drop these rows"
            )
    else:
        signals, decisions = _drawn(grid, program, prices, draw_loads)
    return draw.observed(signals, decisions, list(range(prices.shape[1])), names, program)


def _drawn(
    grid: DcGrid, program: LinearProgram, prices: Array, draw: Callable[[int], Array]
) -> tuple[Array, Array]:
    """Draw loads until each sample has some that can be served; warn if some could not."""
    count = drawn = len(prices)
    signals = np.hstack([prices, draw(count)])
    decisions = _dispatch(program, signals, prices)
    while (again := np.flatnonzero(np.isnan(decisions[:, 0]))).size:
        if drawn >= MAX_DRAWS * count:
            raise DataError(
                f"make_dcopf: {grid.name} cannot serve most of the loads that were drawn: "
                f"{drawn} were drawn for {count} samples, {len(again)} samples have none yet; "
                "lower load_range, or give loads"
            )
        signals[again, prices.shape[1] :] = draw(len(again))
        decisions[again] = _dispatch(program, signals[again], prices[again])
        drawn += len(again)
    if drawn > count:
        warnings.warn(
            f"make_dcopf: {drawn - count} of {drawn} loads that were drawn cannot be served by "
            f"{grid.name} and were drawn again; with a lower load_range all can be",
            FeaslearnWarning,
            stacklevel=3,
        )
    return signals, decisions


def _dispatch(program: LinearProgram, signals: Array, prices: Array) -> Array:
    """Return the cheapest dispatch of each sample, NaN where the loads cannot be served."""
    parts = [slice(i, i + SOLVED_TOGETHER) for i in range(0, len(signals), SOLVED_TOGETHER)]
    return np.vstack([program.solve_where_feasible(signals[i], prices[i]) for i in parts])


def _cost_names(grid: DcGrid) -> list[str]:
    return [f"cost_g{number}" for number in grid.generators]


def _given(
    problems: Problems, name: str, values: ArrayLike | None, names: tuple[str, ...] | None
) -> Array | None:
    """Return a table that the user gave, its columns in the order of the names."""
    if values is None:
        return None
    table = as_matrix(values, name=name, problems=problems)
    if table is None or names is None:
        return None
    if table.shape[1] != len(names):
        problems.add(
            f"{name} has {table.shape[1]} columns, expected {len(names)}: "
            f"{list_first(names[:10], len(names))}"
        )
        return None
    given = column_names(values)
    if given is not None and sorted(given) == sorted(names):
        return np.ascontiguousarray(table[:, [given.index(label) for label in names]])
    return table


def _count(problems: Problems, n_samples: int | None, **given: Array | None) -> int:
    """Return how many samples there are: as asked for, or as many as rows were given."""
    lengths = {name: len(table) for name, table in given.items() if table is not None}
    count = next(iter(lengths.values()), 1) if n_samples is None else n_samples
    if n_samples is None and not lengths:
        problems.add("n_samples is None: say how many, or give loads or costs")
    for name, length in lengths.items():
        if length != count:
            problems.add(f"{name} has {length} rows for {count} samples; give one for each")
    return count


def _check_range(problems: Problems, name: str, value: object) -> None:
    pair = value if isinstance(value, tuple | list) else ()
    numbers = [v for v in pair if isinstance(v, Real) and not isinstance(v, bool)]
    if len(pair) != 2 or len(numbers) != 2 or not 0.0 <= pair[0] <= pair[1] < np.inf:
        problems.add(f"{name} is {value!r}, expected two numbers, 0 <= low <= high")


def _nominal_costs(problems: Problems, grid: DcGrid, quadratic: str) -> Array | None:
    """Return the linear costs of the file, or add why they cannot be used."""
    if quadratic not in ("refuse", "linearize"):
        problems.add(f"quadratic is {quadratic!r}, expected 'refuse' or 'linearize'")
    if grid.costs is None:
        problems.add("the file has no costs (mpc.gencost): give costs")
        return None
    if quadratic == "refuse" and grid.costs.curved.any():
        curved = [f"g{grid.generators[i]}" for i in np.flatnonzero(grid.costs.curved)]
        problems.add(
            f"the costs of {len(curved)} generators are not linear in the file "
            f"({list_first(curved[:5], len(curved))}): give costs, or quadratic='linearize' to "
            "take marginal costs in the middle of each generator's range"
        )
    return grid.costs.slope


class LoadZones(NamedTuple):
    """``d = fixed + shares z``, the loads of buses from those of zones."""

    names: tuple[str, ...]
    nominal: Array
    shares: Array
    fixed: Array


def resolve_zones(problems: Problems, grid: DcGrid, zones: int | None) -> LoadZones | None:
    """Divide the loads into zones."""
    if zones is not None and not check_value("zones", zones, Integer(1), problems):
        return None
    labels = grid.buses if zones is None else (grid.buses - 1) % zones + 1
    kinds, members = np.unique(labels, return_inverse=True)
    total = np.bincount(members, weights=grid.loads).astype(np.float64)
    # Loads and injections that cancel cannot be scaled by their sum.
    size = np.bincount(members, weights=np.abs(grid.loads))
    moves = np.abs(total) > VISIBLE_TOL * size
    if not moves.any():
        problems.add(f"zones: no zone of {grid.name} has a load in the file; loads cannot be drawn")
        return None
    chosen = np.flatnonzero(moves)
    shares = np.zeros((len(grid.buses), len(chosen)))
    for column, kind in enumerate(chosen):
        inside = members == kind
        shares[inside, column] = grid.loads[inside] / total[kind]
    prefix = "load_" if zones is None else "load_z"
    names = tuple(f"{prefix}{kinds[kind]}" for kind in chosen)
    return LoadZones(names, total[chosen], shares, np.where(moves[members], 0.0, grid.loads))
