"""Regions as CVXPY constraints."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from feaslearn.arrays import Array
from feaslearn.exceptions import DataError
from feaslearn.export.exported import Exported, read_source
from feaslearn.export.naming import names_of_rows
from feaslearn.messages import import_extra
from feaslearn.region import Region, RegionForm
from feaslearn.region.form import below
from feaslearn.regressor.learned_region import LearnedRegion
from feaslearn.solvers.conic_form import ConicForm


def to_cvxpy(source: Region | LearnedRegion, x: Any = None, signals: Any = None) -> Exported:
    r"""Return a region, or the whole map from signals to regions, as CVXPY constraints.

    .. math:: x = \sum_k \phi_k (A_k z + b_k), \qquad Hz - h \in K

    The constraints of a fitted model keep CVXPY's rules of disciplined parametrised programs in
    :math:`\phi`: a problem is compiled once, solved at many signals, and can be a differentiable
    layer.

    Parameters
    ----------
    source : Region or fitted RegionRegressor
        The region at one signal, or the model.
    x : cvxpy.Expression of shape (n,), default=None
        The decisions in a problem of your own; None makes a variable.
    signals : dict, default=None
        Variables or expressions by the names of the signals, of a fitted model whose rows are
        linear in decisions and signals together; there is no parameter then.

    Returns
    -------
    Exported
        With ``x``, the list ``constraints``, ``rows`` that says in which of them each named row is
        (its dual value is there), and for a model the parameter ``phi``, which ``set_signal``
        fills.

    Examples
    --------
    >>> import cvxpy as cp
    >>> import feaslearn as fl
    >>> from feaslearn.sets import AffineImage
    >>> region = fl.Region(AffineImage(fl.Simplex(3), [[0.0, 2, 0], [0, 0, 2]], [1.0, 1]))
    >>> exported = fl.export.to_cvxpy(region)
    >>> problem = cp.Problem(cp.Minimize(exported.x @ [-1, 1]), exported.constraints)
    >>> print(round(problem.solve(solver="HIGHS"), 6))
    -2.0
    """
    cp = import_extra("cvxpy", "cvxpy")
    given = read_source(source, signals)
    rows, names = given.form, given.names
    decisions = cp.Variable(len(names), name="x") if x is None else _expression(cp, x, names)
    latent = cp.Variable(rows.p, name="z") if rows.p else None
    phi: Any = None
    if given.moving is not None:
        phi = cp.Parameter(len(rows.r), name="phi")
    columns = cp.hstack([decisions, *given.signals]) if given.signals else decisions
    slack = rows.X @ columns + _moving_part(cp, rows, latent, phi)
    form = ConicForm(np.zeros((len(rows.r[0]), 0)), rows.r[0], rows.cones)

    def assign(values: Array) -> None:
        phi.value = values

    return Exported(
        "cvxpy",
        decisions,
        _in_cone(cp, form, slack),
        {name: f"{decisions}[{j}]" for j, name in enumerate(names)},
        _index_rows(form, list(names_of_rows(rows, names))),
        phi=phi,
        moving=given.moving,
        assign=assign,
    )


def _in_cone(cp: Any, form: ConicForm, slack: Any) -> list[Any]:
    """Return that ``slack`` is in K, one constraint for each cone."""
    constraints: list[Any] = []
    for cone, rows in form.blocks():
        part = slack[rows]
        if cone.size == 0:
            continue
        if cone.kind == "zero":
            constraints.append(part == 0)
        elif cone.kind == "nonnegative" or cone.size == 1:
            constraints.append(part >= 0)
        else:
            constraints.append(cp.SOC(part[0], part[1:]))
    return constraints


def _index_rows(form: ConicForm, labels: list[str]) -> dict[str, str]:
    """Return in which constraint each row is, and where in it: duals are found there."""
    kept = [rows for cone, rows in form.blocks() if cone.size]
    return {
        labels[i]: f"constraints[{index}][{i - rows.start}]"
        for index, rows in enumerate(kept)
        for i in range(rows.start, rows.stop)
    }


def _moving_part(cp: Any, rows: RegionForm, latent: Any, phi: Any) -> Any:
    """Return ``sum_k phi_k (Z_k z - r_k)``: one product with the parameter, free of it inside."""
    still = rows.Z[0] @ latent - rows.r[0] if rows.p else -rows.r[0]
    if phi is None:
        return still
    # Rows that move have a column for each coefficient; with all rows, compiling would take long.
    # Where none moves, the parameter is still part of the problem.
    moves = rows.moving if rows.moving.any() else np.ones(len(rows.moving), dtype=bool)
    moving = np.flatnonzero(moves)
    table: Any = -rows.r[:, moving].T
    if rows.p:
        stacked = below([Z[moving] for Z in rows.Z]) @ latent
        table = table + cp.reshape(stacked, table.shape, order="F")
    selection = sp.eye_array(len(moves), format="csc")[:, moving]
    return sp.diags_array((~moves).astype(float)) @ still + selection @ (table @ phi)


def _expression(cp: Any, x: Any, names: tuple[str, ...]) -> Any:
    if isinstance(x, list | tuple):
        x = cp.hstack(list(x))
    if not isinstance(x, cp.Expression) or x.size != len(names) or x.ndim > 1:
        shape = getattr(x, "shape", type(x).__name__)
        raise DataError(
            f"to_cvxpy: x is {shape}, expected an expression of shape ({len(names)},), one entry "
            f"for each of {', '.join(names)}"
        )
    return cp.reshape(x, (len(names),), order="F") if x.ndim == 0 else x
