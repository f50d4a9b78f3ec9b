"""Regions in gurobipy models."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from feaslearn.arrays import Array
from feaslearn.exceptions import DataError, SolverError, UnsupportedError
from feaslearn.export.exported import Exported, chosen, read_source
from feaslearn.export.naming import free_prefix, names_of_rows, safe_names
from feaslearn.export.solver_form import SolverForm, solver_form
from feaslearn.messages import import_extra
from feaslearn.region import Region
from feaslearn.regressor.learned_region import LearnedRegion


def to_gurobipy(
    source: Region | LearnedRegion, model: Any = None, x: Any = None, signals: Any = None
) -> Exported:
    r"""Put a region into a gurobipy model, a new one or your own.

    .. math:: x = A z + b, \qquad Hz - h \in K

    Gurobi has no parameters: the constraints of a fitted model are written anew at each signal by
    ``set_signal``. Before the first, the model has no solution.

    Parameters
    ----------
    source : Region or fitted RegionRegressor
        The region at one signal, or the model.
    model : gurobipy.Model, default=None
        Where to put it; None makes one.
    x : gurobipy variables, default=None
        The decisions in ``model``: an MVar, a list in the order of the names, or a tupledict.
    signals : dict, default=None
        Variables of ``model`` by the names of the signals, of a fitted model whose rows are linear
        in decisions and signals together; it does not move then.

    Returns
    -------
    Exported
        With the MVar ``x``, the list ``constraints``, and ``model``.

    Examples
    --------
    >>> import feaslearn as fl
    >>> from feaslearn.sets import AffineImage
    >>> region = fl.Region(AffineImage(fl.Box(2), [[1.0, 0], [0, 2]], [1.0, 1]), ["gas", "hydro"])
    >>> exported = fl.export.to_gurobipy(region)  # doctest: +SKIP
    >>> exported.model.setObjective(exported.x.sum())  # doctest: +SKIP
    """
    gp = import_extra("gurobipy", "gurobi")
    given = read_source(source, signals)
    form = solver_form(given.form, "to_gurobipy", curved=True)
    rows = form.rows
    if model is None:
        if x is not None or signals:
            owned = "x belongs" if x is not None else "signals belong"
            raise DataError(f"to_gurobipy: {owned} to a model; give that model as well")
        with gurobi_errors(gp):
            model = gp.Model()
    elif not isinstance(model, gp.Model):
        raise DataError(f"to_gurobipy: model is {type(model).__name__}, not a gurobipy.Model")
    names = safe_names(given.names)
    if x is None:
        decisions = model.addMVar(len(names), lb=-gp.GRB.INFINITY, name=list(names.values()))
        model.update()
    else:
        decisions = gp.MVar.fromlist(chosen(x, given.names, "to_gurobipy"))
    columns = decisions
    if given.signals:
        columns = gp.MVar.fromlist([*decisions.tolist(), *given.signals])
    latent = _add_latent(gp, model, form, list(names.values()))
    labels = names_of_rows(rows, given.names)
    exported = Exported(
        "gurobipy",
        decisions,
        [],
        dict(zip(given.names, decisions.VarName.tolist(), strict=True)),
        labels,
        model,
        None,
        given.moving,
    )

    def assign(values: Array) -> None:
        model.remove(exported.constraints)
        ordered = list(labels.values())
        exported.constraints = _add_rows(model, form, values, columns, latent, ordered)
        model.update()

    exported.assign = assign
    if given.moving is None:
        assign(np.ones(1))
    else:
        # Nothing satisfies both: solving before a signal is set finds no answer.
        first = decisions[0]
        exported.constraints = [
            model.addConstr(row, name="set_signal_first") for row in (first >= 1.0, first <= 0.0)
        ]
        model.update()
    return exported


@contextmanager
def gurobi_errors(gp: Any) -> Iterator[None]:
    """Turn what Gurobi says into errors of ours; a licence that does not suffice is no failure."""
    try:
        yield
    except gp.GurobiError as error:
        licence = error.errno in (gp.GRB.Error.NO_LICENSE, gp.GRB.Error.SIZE_LIMIT_EXCEEDED)
        kind = UnsupportedError if licence else SolverError
        raise kind(f"Gurobi says: {error}") from error


def _add_latent(gp: Any, model: Any, form: SolverForm, names: list[str]) -> Any:
    """Add the latent variables and the cones over them, which do not move."""
    n, prefix = form.rows.n, free_prefix("z", names)
    kinds = np.where(form.rows.integer, gp.GRB.BINARY, gp.GRB.CONTINUOUS).tolist()
    latent = model.addMVar(
        form.rows.p, lb=form.lower[n:], ub=form.upper[n:], vtype=kinds, name=prefix
    )
    for entries in form.norms:
        bound, parts = latent[int(entries[0])], latent[entries[1:].tolist()]
        model.addConstr(parts @ parts <= bound * bound)
    return latent


def _add_rows(
    model: Any, form: SolverForm, values: Array, columns: Any, latent: Any, labels: list[str]
) -> list[Any]:
    rows, named = form.rows.at(values), np.array(labels, dtype=object)
    added = []
    for which, is_equal in ((form.equal, True), (~form.equal, False)):
        if which.any():
            left = rows.X[which] @ columns
            if rows.p:
                left = left + rows.Z[0][which] @ latent
            right = rows.r[0, which]
            block = model.addConstr(left == right if is_equal else left >= right).tolist()
            for constraint, label in zip(block, named[which], strict=True):
                constraint.ConstrName = label
            added += block
    return added
