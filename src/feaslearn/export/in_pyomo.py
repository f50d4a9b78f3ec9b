"""Regions as Pyomo blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from feaslearn.arrays import Array
from feaslearn.export.exported import Exported, chosen, read_source
from feaslearn.export.naming import names_of_rows
from feaslearn.export.solver_form import SolverForm, solver_form
from feaslearn.messages import import_extra
from feaslearn.region import Region
from feaslearn.regressor.learned_region import LearnedRegion


def to_pyomo(source: Region | LearnedRegion, x: Any = None, signals: Any = None) -> Exported:
    r"""Return a region, or the whole map from signals to regions, as a Pyomo block.

    .. math:: x = \sum_k \phi_k (A_k z + b_k), \qquad Hz - h \in K

    The block holds ``x`` (indexed by the names of the decisions, unless they are given), latent
    variables ``z``, constraints ``rows`` (indexed by their names, such as "facet_2") and ``norms``,
    and for a fitted model the mutable parameters ``phi``. Second-order cones are quadratic
    constraints, which need a solver that takes them.

    Parameters
    ----------
    source : Region or fitted RegionRegressor
        The region at one signal, or the model.
    x : Pyomo variables, default=None
        The decisions in a model of your own: a list in the order of the names, an indexed variable
        or a dictionary.
    signals : dict, default=None
        Variables or expressions by the names of the signals, of a fitted model whose rows are
        linear in decisions and signals together; there are no parameters then.

    Returns
    -------
    Exported
        Whose ``model`` is the block, to be assigned to an attribute of your model.

    Examples
    --------
    >>> import feaslearn as fl
    >>> import pyomo.environ as pyo
    >>> from feaslearn.sets import AffineImage
    >>> region = fl.Region(AffineImage(fl.Box(2), [[1.0, 0], [0, 2]], [1.0, 1]), ["gas", "hydro"])
    >>> market = pyo.ConcreteModel()
    >>> market.plant = fl.export.to_pyomo(region).model
    >>> market.cost = pyo.Objective(expr=market.plant.x["gas"] + market.plant.x["hydro"])
    >>> _ = pyo.SolverFactory("appsi_highs").solve(market)
    >>> round(pyo.value(market.cost), 6)
    -1.0
    """
    pyo = import_extra("pyomo.environ", "pyomo")
    given = read_source(source, signals)
    form = solver_form(given.form, "to_pyomo", curved=True)
    block = pyo.Block(concrete=True)
    if x is None:
        block.x = pyo.Var(list(given.names))
        decisions = [block.x[name] for name in given.names]
    else:
        decisions = chosen(x, given.names, "to_pyomo")
    _add_latent(pyo, block, form)
    weights: list[Any] = [1.0]
    keys = [] if given.moving is None else list(given.moving.names)
    if keys:
        # Without values: solving before a signal is set is an error.
        block.phi = pyo.Param(keys, mutable=True, within=pyo.Reals)
        weights = [block.phi[key] for key in keys]
    labels = names_of_rows(form.rows, given.names)
    columns = [*decisions, *given.signals]
    rule = _row_rule(pyo, form, list(labels), columns, weights)
    block.rows = pyo.Constraint(list(labels), rule=rule)

    def norm(block: Any, i: int) -> Any:
        bound, *parts = (block.z[int(j)] for j in form.norms[i])
        return sum(part**2 for part in parts) <= bound**2

    block.norms = pyo.Constraint(range(len(form.norms)), rule=norm)

    def assign(values: Array) -> None:
        block.phi.store_values(dict(zip(keys, values.tolist(), strict=True)))

    return Exported(
        "pyomo",
        block.x if x is None else decisions,
        block.rows,
        {name: str(variable) for name, variable in zip(given.names, decisions, strict=True)},
        {label: f"rows[{label}]" for label in labels},
        block,
        None if given.moving is None else block.phi,
        given.moving,
        assign,
    )


def _add_latent(pyo: Any, block: Any, form: SolverForm) -> None:
    n, entries = form.rows.n, range(form.rows.p)
    sides = np.column_stack([form.lower[n:], form.upper[n:]])
    bounds = [[float(each) if np.isfinite(each) else None for each in pair] for pair in sides]
    block.z = pyo.Var(entries, bounds=lambda _, j: bounds[j])


def _row_rule(
    pyo: Any, form: SolverForm, labels: list[str], columns: list[Any], weights: list[Any]
) -> Any:
    """Return the function that writes a row: ``X x + sum_k w_k (Z_k z - r_k)``."""
    rows, indices = form.rows, {label: i for i, label in enumerate(labels)}

    def products(matrix: Any, i: int, variables: Any) -> list[Any]:
        entries = range(matrix.indptr[i], matrix.indptr[i + 1])
        return [float(matrix.data[e]) * variables[int(matrix.indices[e])] for e in entries]

    def rule(block: Any, label: str) -> Any:
        i = indices[label]
        terms = products(rows.X, i, columns)
        for weight, Z, r in zip(weights, rows.Z, rows.r, strict=True):
            moved = products(Z, i, block.z)
            if moved or r[i]:
                terms.append(weight * (pyo.quicksum(moved) - float(r[i])))
        body = pyo.quicksum(terms)
        if not hasattr(body, "is_potentially_variable") or not body.is_potentially_variable():
            # Nothing varies in the row; the region was seen not to be empty.
            return pyo.Constraint.Skip
        return body == 0.0 if form.equal[i] else body >= 0.0

    return rule
