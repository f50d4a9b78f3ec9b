r"""The rows that a Minkowski sum must satisfy to explain samples exactly.

.. math::
    |x_i - b(s_i) - \textstyle\sum_t E_t \zeta_{it}| \le \tau + v_i, \quad
    \zeta_{it} \in \alpha_t(s_i) F_{it}, \quad \alpha_t(s_i) \ge 0, \quad v_i \ge 0

All of them are linear in the parameters, and :math:`\min \sum_i v_i` is zero exactly when one
region explains the samples to within :math:`\tau`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.data import Block, Samples
from feaslearn.formulations.minkowski import ScaledFaces
from feaslearn.hypotheses.minkowski import Minkowski
from feaslearn.losses import Predictability
from feaslearn.solvers.highs import CheckedProgram
from feaslearn.tolerances import GAIN_TOL, TIGHT_TOL
from feaslearn.trainers.minkowski_fit.passes import Passes


class Elastic(NamedTuple):
    """Coefficients, by how much each sample is missed, and which samples hold the optimum up."""

    a: Array
    b: Array
    missed: Array
    forced: Mask


class LinearSystem:
    """The rows of all samples, of which some are solved at a time; errors are in a unit."""

    def __init__(self, hypothesis: Minkowski, rows: Block, unit: float, tolerance: float) -> None:
        self.hypothesis, self.rows = hypothesis, rows
        self.unit, self.tolerance = unit, tolerance
        self._passes = Passes(hypothesis, Samples.of(rows))
        self._read = self._passes.program_rows()
        self._x = self._read.decisions / unit
        self._terms = hypothesis.terms_of(self._passes.n)
        self._tied = self._passes.minimizers.at(rows.costs).tied
        curved = [
            any(cone.kind not in ("nonnegative", "zero") for cone in form.cones)
            for form in (term.primitive.conic_form() for term in self._terms)
        ]
        #: Samples whose minimisers form a curved set: no linear program speaks of them.
        self.left_out = self._tied[:, curved].any(axis=1)

    @property
    def n_parameters(self) -> int:
        """Number of parameters."""
        scales, offsets = self._passes.shape, self._read.phi.shape[1] * self._passes.n
        return int(scales[0] * scales[1] + offsets)

    def theta(self, found: Elastic) -> Array:
        """Return the parameters of the hypothesis."""
        return self._passes.of.theta(self.unit * found.a, self.unit * found.b)

    def solve(self, chosen: Indices) -> Elastic:
        """Return coefficients that miss the chosen samples by least in all."""
        groups, functions = self._passes.shape
        parts = self._parts(chosen)
        x = self._x[chosen].ravel()
        seen = ~np.isnan(x)
        errors = sp.csr_array(np.repeat(np.eye(len(chosen)), self._passes.n, axis=0))[seen]
        model, x = sp.hstack(parts.columns, format="csr")[seen], x[seen]
        width = model.shape[1] + len(chosen)
        upper, equal = self._set_rows(parts, width)
        sides = [sp.hstack([side * model, -errors]) for side in (1.0, -1.0)]
        right = [side * x + self.tolerance for side in (1.0, -1.0)]
        cost = np.repeat([0.0, 1.0], [model.shape[1], len(chosen)])
        program = CheckedProgram(
            cost,
            np.where(cost > 0.0, 0.0, -np.inf),
            np.full(width, np.inf),
            sp.vstack([*sides, upper], format="csr"),
            np.concatenate([*right, np.zeros(upper.shape[0])]),
            equal,
            np.zeros(equal.shape[0]),
        )
        answer = program.solve("consistency", TIGHT_TOL)
        forces = np.abs(answer.duals[: 2 * len(x)]).reshape(2, -1).sum(axis=0)
        size = groups * functions
        return Elastic(
            answer.point[:size].reshape(groups, functions),
            answer.point[size : size + parts.columns[1].shape[1]].reshape(-1, self._passes.n),
            answer.point[model.shape[1] :],
            np.asarray(errors.T @ forces > GAIN_TOL),
        )

    def _parts(self, chosen: Indices) -> _Parts:
        """Return what multiplies scales, offsets and points of faces in the decisions."""
        n, costs, tied = self._passes.n, self.rows.costs[chosen], self._tied[chosen]
        faces = ScaledFaces(self._terms, costs, tied, whole=False)
        points = self._passes.minimizers.at(costs).points
        points = self._shared(np.where(tied[:, :, None], faces.anchors, points))
        psi, phi = self._read.psi[chosen], self._read.phi[chosen]
        by_scale = np.einsum("im,igj->ijgm", psi, points).reshape(len(chosen) * n, -1)
        by_offset = np.einsum("il,jr->ijlr", phi, np.eye(n)).reshape(len(chosen) * n, -1)
        return _Parts((by_scale, by_offset, faces.image), faces, psi)

    def _shared(self, points: Array) -> Array:
        """Return the points that each scale multiplies: with one scale for all, their sum."""
        if self._passes.shape[0] == 1 < points.shape[1]:
            return np.asarray(points.sum(axis=1, keepdims=True))
        return points

    def _set_rows(self, parts: _Parts, width: int) -> tuple[Any, Any]:
        """Return rows ``<= 0`` and ``= 0``: scales that are not negative, points of faces."""
        groups, functions = self._passes.shape
        faces, psi = parts.faces, parts.psi
        scales: Any = sp.eye_array(groups * functions)
        if not self._passes.basis.nonnegative:
            scales = sp.kron(sp.eye_array(groups), np.unique(psi, axis=0))
        upper, equal = [_padded(-scales, 0, width)], [sp.csr_array((0, width))]
        if faces.size:
            owners = np.zeros(len(faces.terms), int) if groups == 1 else faces.terms
            columns = owners[:, None] * functions + np.arange(functions)
            values = faces.h[:, None] * psi[faces.rows]
            entries = np.repeat(np.arange(len(owners)), functions), columns.ravel()
            shape = (len(owners), groups * functions)
            scaled = sp.csr_array((values.ravel(), entries), shape=shape)
            before = sum(part.shape[1] for part in parts.columns[:2])
            rows = _padded(scaled, 0, width) - _padded(faces.H, before, width)
            for kind, _, chosen in faces.cones():
                (equal if kind == "zero" else upper).append(rows[chosen])
        return sp.vstack(upper, format="csr"), sp.vstack(equal, format="csr")

    def missed(self, found: Elastic) -> Array:
        """Return by how much each of all samples is missed, in units."""
        passes, read = self._passes, self._read
        scales = read.psi @ found.a.T
        offset = read.phi @ found.b
        predicted = np.empty_like(self._x)
        for part in passes.minimizers.chunks(len(self._x)):
            points = self._shared(passes.minimizers.at(self.rows.costs[part]).points)
            predicted[part] = offset[part] + np.einsum("ig,igj->ij", scales[part], points)
        distance = np.nan_to_num(np.abs(predicted - self._x)).max(axis=1)
        tied = np.flatnonzero(self._tied.any(axis=1))
        if len(tied):
            loss, some = Predictability("linf", squared=False), Block(*(a[tied] for a in self.rows))
            distance[tied] = loss.samples(self.hypothesis, self.theta(found), some) / self.unit
        violation = np.maximum(distance - self.tolerance, 0.0)
        if scales.shape[1]:
            violation = np.maximum(violation, -scales.min(axis=1))
        return np.asarray(np.where(self.left_out, 0.0, violation))


class _Parts(NamedTuple):
    """Columns of scales, offsets and points of faces, these faces, functions of the scales."""

    columns: tuple[Any, Any, Any]
    faces: ScaledFaces
    psi: Array


def _padded(matrix: Any, before: int, width: int) -> Any:
    """Return a matrix with zeros on both sides."""
    after = width - before - matrix.shape[1]
    sides = [sp.csr_array((matrix.shape[0], size)) for size in (before, after)]
    return sp.hstack([sides[0], matrix, sides[1]], format="csr")
