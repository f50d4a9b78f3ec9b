r"""Complementary slackness: the row :math:`c'(x + \gamma - b) \le \lambda'h`, cone by cone.

With :math:`x + \gamma = Az + b` and :math:`A'c = H'\lambda` the row reads
:math:`\lambda'(Hz - h) \le 0`. Slack and multipliers lie in dual cones, so their product is never
negative, in any cone: the row holds exactly where each cone's product is zero. Those are linear
equations in z, once the multipliers are known.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from feaslearn.arrays import Array, Mask
from feaslearn.formulations.program import (
    CONIC,
    LINEAR,
    in_cone,
    load_cvxpy,
    semidefinite,
    solve,
)
from feaslearn.solvers.conic_form import Cone, ConicForm
from feaslearn.solvers.triangle import jordan, split
from feaslearn.tolerances import ZERO_MULTIPLIER

Kind = Literal["any", "ray", "none"] | int


class Slackness(NamedTuple):
    """The points z whose slack is complementary: ``E z = e``, and ``F z - f`` in what is left of K.

    ``kinds`` says of each second-order cone whether any slack is left to it, slack on one ray, or
    none; of each semidefinite cone, how many rows are left to it, a triangle again.
    """

    kinds: tuple[Kind, ...]
    E: Array
    e: Array
    F: Array
    f: Array


class OptimalMultipliers:
    r"""The region's dual :math:`\max\{\lambda'h : H'\lambda = q, \lambda \in K^*\}`."""

    def __init__(self, form: ConicForm) -> None:
        cp = load_cvxpy()
        self._form = form
        self._q = cp.Parameter(form.H.shape[1])
        self._lam = cp.Variable(len(form.h))
        self._stationary = form.H.T @ self._lam == self._q
        rows = [self._stationary, *in_cone(form, self._lam, dual=True)]
        # Minimised, because then the multiplier of the first row is z, with its sign.
        self._program = cp.Problem(cp.Minimize(-(self._lam @ form.h)), rows)

    def solve(self, q: Array) -> tuple[Array, Slackness]:
        """Return optimal multipliers of the latent cost ``q``, and their complementary slack."""
        size = np.abs(q).max()
        lam = np.zeros(len(self._form.h))
        if size > 0.0:
            self._q.value = q / size
            solve(self._program, "multiplier", LINEAR if self._form.polyhedral else CONIC)
            z, lam = np.array(self._stationary.dual_value), np.array(self._lam.value)
            lam = _polished(self._form, q / size, z, lam)
        return size * lam, slackness(self._form, lam)


def _kinds(form: ConicForm, lam: Array) -> tuple[tuple[Kind, ...], Mask]:
    """Return the kind of each curved cone, and which linear rows have no slack."""
    kinds: list[Kind] = []
    tight = np.zeros(len(lam), dtype=bool)
    for cone, rows in form.blocks():
        if cone.kind == "semidefinite":
            kinds.append(split(lam[rows], ZERO_MULTIPLIER).kept)
        elif cone.kind == "second-order":
            head, length = lam[rows][0], float(np.linalg.norm(lam[rows][1:]))
            on_boundary: Kind = "ray" if head - length <= ZERO_MULTIPLIER else "none"
            kinds.append("any" if head <= ZERO_MULTIPLIER else on_boundary)
        else:
            tight[rows] = (cone.kind == "zero") | (lam[rows] > ZERO_MULTIPLIER)
    return tuple(kinds), tight


def _curved(form: ConicForm) -> list[tuple[Cone, slice]]:
    """Return the cones that have a kind, with their rows."""
    curved = ("second-order", "semidefinite")
    return [(cone, rows) for cone, rows in form.blocks() if cone.kind in curved]


def _polished(form: ConicForm, q: Array, z: Array, lam: Array) -> Array:
    """Return multipliers improved by Newton's method on the optimality conditions."""
    # Where the optimum is curved, a gap of 1e-12 leaves an error of 1e-6 in a multiplier.
    kinds, tight = _kinds(form, lam)
    p = len(z)
    for _ in range(3):
        residual, jacobian = _conditions(form, q, z, lam, kinds, tight)
        step = np.linalg.lstsq(jacobian, -residual, rcond=ZERO_MULTIPLIER)[0]
        new_z, new_lam = z + step[:p], lam + step[p:]
        better = _conditions(form, q, new_z, new_lam, kinds, tight)[0]
        if not np.linalg.norm(better) < np.linalg.norm(residual):
            break
        z, lam = new_z, new_lam
    return lam


def _conditions(
    form: ConicForm,
    q: Array,
    z: Array,
    lam: Array,
    kinds: tuple[Kind, ...],
    tight: Mask,
) -> tuple[Array, Array]:
    """Return ``H'lam - q`` and the products of slack and multipliers, and their Jacobian."""
    H, h, _ = form
    slack, identity = H @ z - h, np.eye(len(h))
    products = np.where(tight, slack, lam)
    by_z, by_lam = np.where(tight[:, None], H, 0.0), np.where(tight[:, None], 0.0, identity)
    for kind, (cone, rows) in zip(kinds, _curved(form), strict=True):
        product = _arrow if cone.kind == "second-order" else jordan
        if kind in ("none", 0):
            products[rows], by_z[rows], by_lam[rows] = slack[rows], H[rows], 0.0
        elif kind not in ("any", cone.size):
            products[rows] = product(slack[rows]) @ lam[rows]
            by_z[rows] = product(lam[rows]) @ H[rows]
            by_lam[rows] = product(slack[rows]) @ identity[rows]
    jacobian = np.block([[np.zeros((len(q), len(q))), H.T], [by_z, by_lam]])
    return np.concatenate([H.T @ lam - q, products]), jacobian


def _arrow(v: Array) -> Array:
    """Return the matrix of ``v`` in the product of a second-order cone."""
    matrix: Array = v[0] * np.eye(len(v))
    matrix[0], matrix[:, 0] = v, v
    return matrix


def slackness(form: ConicForm, lam: Array) -> Slackness:
    """Return the points whose slack is complementary to multipliers ``lam``."""
    kinds, equal = _kinds(form, lam)
    G, g = form.H.copy(), form.h.copy()
    for kind, (cone, rows) in zip(kinds, _curved(form), strict=True):
        if cone.kind == "semidefinite":
            turn, kept, *_ = split(lam[rows], ZERO_MULTIPLIER)
            if kept < cone.size:
                G[rows], g[rows] = turn @ form.H[rows], turn @ form.h[rows]
            equal[rows.start + kept : rows.stop] = True
            continue
        equal[rows] = kind != "any"
        if kind == "ray":
            # (t, u) is orthogonal to (head, tail) in the cone where u = -t tail / |tail|
            t, u = rows.start, slice(rows.start + 1, rows.stop)
            ray = -lam[u] / np.linalg.norm(lam[u])
            G[u] -= np.outer(ray, form.H[t])
            g[u] -= ray * form.h[t]
            equal[t] = False
    left = ~equal
    return Slackness(kinds, G * equal[:, None], g * equal, G * left[:, None], g * left)


def complementary(
    form: ConicForm, kinds: tuple[Kind, ...], z: Any, E: Any, e: Any, F: Any, f: Any
) -> list[Any]:
    """Return the constraints ``H z - h in K`` and complementary to multipliers of these kinds."""
    cp = load_cvxpy()
    slack = F @ z - f
    constraints, left = [E @ z == e], iter(kinds)
    for cone, rows in form.blocks():
        if cone.kind == "nonnegative" and cone.size:
            constraints.append(slack[rows] >= 0)
        elif cone.kind == "semidefinite":
            kept = int(next(left))
            if kept:
                part = slack[rows.start : rows.start + kept]
                constraints.append(semidefinite(part, kept))
        elif cone.kind == "second-order":
            kind, t = next(left), slack[rows.start]
            if kind == "any":
                constraints.append(cp.SOC(t, slack[rows.start + 1 : rows.stop]))
            elif kind == "ray":
                constraints.append(t >= 0)
    return constraints
