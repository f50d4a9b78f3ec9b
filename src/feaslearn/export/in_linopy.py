"""Regions in linopy models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from feaslearn.arrays import Array, Indices
from feaslearn.exceptions import DataError
from feaslearn.export.exported import Exported, read_source
from feaslearn.export.naming import names_of_rows
from feaslearn.export.solver_form import SolverForm, solver_form
from feaslearn.messages import import_extra
from feaslearn.region import Region
from feaslearn.region.form import beside
from feaslearn.regressor.learned_region import LearnedRegion

#: Variables and the columns that they stand for.
Latent = list[tuple[Any, Indices]]


def to_linopy(
    source: Region | LearnedRegion,
    model: Any = None,
    x: Any = None,
    name: str = "region",
    signals: Any = None,
) -> Exported:
    r"""Put a region into a linopy model, a new one or your own.

    .. math:: x = A z + b, \qquad Hz \ge h

    linopy has no parameters: the constraints of a fitted model are written anew at each signal by
    ``set_signal``. Before the first, the model has no solution. Rows are linear, so the region must
    not be curved.

    Parameters
    ----------
    source : Region or fitted RegionRegressor
        The region at one signal, or the model.
    model : linopy.Model, default=None
        Where to put it; None makes one.
    x : linopy.Variable or linopy.LinearExpression, default=None
        The decisions in ``model``, along one dimension in the order of the names.
    name : str, default="region"
        What the names of new variables and constraints begin with.
    signals : dict, default=None
        Variables or expressions without dimensions in ``model`` by the names of the signals, of a
        fitted model whose rows are linear in decisions and signals together; it does not move then.

    Returns
    -------
    Exported
        With ``x``, the names of the ``constraints``, and ``model``.

    Examples
    --------
    >>> import feaslearn as fl
    >>> from feaslearn.sets import AffineImage
    >>> region = fl.Region(AffineImage(fl.Box(2), [[1.0, 0], [0, 2]], [1.0, 1]), ["gas", "hydro"])
    >>> exported = fl.export.to_linopy(region)
    >>> exported.model.add_objective(exported.x.sum())
    >>> exported.model.nvars
    4
    """
    linopy = import_extra("linopy", "linopy")
    given = read_source(source, signals)
    form = solver_form(given.form, "to_linopy")
    model = _model(linopy, model, x, name)
    names = given.names
    if x is None:
        decisions = model.add_variables(coords=[list(names)], dims=["decision"], name=f"{name}-x")
    else:
        decisions = _along_one_dimension(x, names)
    latent = _add_latent(model, form, name)
    exported = Exported(
        "linopy",
        decisions,
        [],
        {each: f"{name}-x[{each}]" if x is None else f"x[{j}]" for j, each in enumerate(names)},
        {},
        model,
        None,
        given.moving,
    )

    labels = np.array(list(names_of_rows(form.rows, names)))
    sides = np.where(form.equal, "equalities", "inequalities").tolist()
    exported.rows = {
        label: f"{name}-{side}[{label}]" for label, side in zip(labels.tolist(), sides, strict=True)
    }
    columns = [(decisions, np.arange(len(names)))]
    columns += [(each, np.array([len(names) + j])) for j, each in enumerate(given.signals)]

    def assign(values: Array) -> None:
        for constraint in exported.constraints:
            model.remove_constraints(constraint)
        exported.constraints = _add_rows(model, form, values, (*columns, *latent), labels, name)

    exported.assign = assign
    if given.moving is None:
        assign(np.ones(1))
    else:
        # Nothing satisfies both: solving before a signal is set finds no answer.
        total = 1.0 * decisions.sum()
        exported.constraints = [f"{name}-set-signal-first-{side}" for side in "ab"]
        for row, label in zip((total >= 1.0, total <= 0.0), exported.constraints, strict=True):
            model.add_constraints(row, name=label)
    return exported


def _model(linopy: Any, model: Any, x: Any, name: str) -> Any:
    if model is None:
        if x is not None:
            raise DataError("to_linopy: x belongs to a model; give that model as well")
        return linopy.Model()
    if not isinstance(model, linopy.Model):
        raise DataError(f"to_linopy: model is {type(model).__name__}, not a linopy.Model")
    if any(str(each).startswith(f"{name}-") for each in (*model.variables, *model.constraints)):
        raise DataError(f"to_linopy: the model has a region called {name!r}; give another name")
    return model


def _along_one_dimension(x: Any, names: tuple[str, ...]) -> Any:
    dimensions = [str(each) for each in getattr(x, "coord_dims", ())]
    if len(dimensions) != 1 or x.sizes[dimensions[0]] != len(names):
        raise DataError(
            f"to_linopy: x must be a linopy variable or expression with one dimension of size "
            f"{len(names)}, one entry for each of {', '.join(names)}"
        )
    return x


def _add_latent(model: Any, form: SolverForm, name: str) -> Latent:
    """Add continuous and binary latent variables, with the columns that they stand for."""
    lower, upper = form.lower[form.rows.n :], form.upper[form.rows.n :]
    added = []
    for label, which in (("z", ~form.rows.integer), ("y", form.rows.integer)):
        if not which.any():
            continue
        variable = model.add_variables(
            lower=lower[which],
            upper=upper[which],
            coords=[np.flatnonzero(which)],
            dims=[f"{name}-{label}"],
            name=f"{name}-{label}",
            integer=label == "y",
        )
        added.append((variable, form.rows.n + np.flatnonzero(which)))
    return added


def _add_rows(
    model: Any,
    form: SolverForm,
    values: Array,
    columns: Sequence[tuple[Any, Indices]],
    labels: NDArray[np.str_],
    name: str,
) -> list[str]:
    from xarray import DataArray

    rows = form.rows.at(values)
    matrix, row = beside([rows.X, rows.Z[0]]).toarray(), f"{name}-row"
    added = []
    for label, which in (("equalities", form.equal), ("inequalities", ~form.equal)):
        if not which.any():
            continue
        left, named = 0, {row: labels[which]}
        for variables, entries in columns:
            part = matrix[np.ix_(which, entries)]
            if variables.coord_dims:
                along = variables.coord_dims[0]
                known = named | {along: variables.indexes[along]}
                factors = DataArray(part, dims=[row, along], coords=known)
                left = left + (factors * variables).sum(along)
            else:
                left = left + DataArray(part[:, 0], dims=[row], coords=named) * variables
        right = DataArray(rows.r[0, which], dims=[row], coords=named)
        relation = left == right if label == "equalities" else left >= right
        model.add_constraints(relation, name=f"{name}-{label}")
        added.append(f"{name}-{label}")
    return added
