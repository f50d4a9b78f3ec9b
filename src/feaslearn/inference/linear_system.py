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
    """Parameters, by how much each sample is missed, and which samples hold the optimum up."""

    theta: Array
    missed: Array
    forced: Mask


class LinearSystem:
    """The rows of all samples, of which some are solved at a time; errors are in a unit."""

    def __init__(self, hypothesis: Minkowski, rows: Block, unit: float, tolerance: float) -> None:
        self.hypothesis, self.rows = hypothesis, rows
        self.unit, self.tolerance = unit, tolerance
        self._passes = Passes(hypothesis, Samples.of(rows))
        self._read = self._passes.program_rows()
        self._terms = hypothesis.terms_of(self._passes.n)
        self._tied = self._passes.minimizers.at(rows.costs).tied
        curved = [not term.primitive.conic_form().polyhedral for term in self._terms]
        #: Samples whose minimisers form a curved set: no linear program speaks of them.
        self.left_out = self._tied[:, curved].any(axis=1)

    @property
    def n_parameters(self) -> int:
        """Number of parameters."""
        groups, functions = self._passes.shape
        return int(groups * functions + self._read.phi.shape[1] * self._passes.n)

    def solve(self, chosen: Indices) -> Elastic:
        """Return parameters that miss the chosen samples by least in all."""
        (groups, functions), n = self._passes.shape, self._passes.n
        costs, tied = self.rows.costs[chosen], self._tied[chosen]
        psi, phi = self._read.psi[chosen], self._read.phi[chosen]
        faces = ScaledFaces(self._terms, costs, tied, whole=False)
        points = self._passes.minimizers.at(costs).points
        points = np.where(tied[:, :, None], faces.anchors, points)
        if groups == 1 < points.shape[1]:  # one scale for all terms multiplies their sum
            points = points.sum(axis=1, keepdims=True)
        x = self._read.decisions[chosen].ravel() / self.unit
        scales = np.einsum("im,igj->ijgm", psi, points).reshape(len(x), -1)
        offsets = np.einsum("il,jr->ijlr", phi, np.eye(n)).reshape(len(x), -1)
        seen = ~np.isnan(x)
        errors = sp.csr_array(np.repeat(np.eye(len(chosen)), n, axis=0))[seen]
        model = sp.hstack([scales, offsets, faces.image], format="csr")[seen]
        upper, equal = self._set_rows(psi, faces, offsets.shape[1])
        sides = [sp.hstack([side * model, -errors]) for side in (1.0, -1.0)]
        right = [side * x[seen] + self.tolerance for side in (1.0, -1.0)]
        cost = np.repeat([0.0, 1.0], [model.shape[1], len(chosen)])
        program = CheckedProgram(
            cost,
            np.where(cost > 0.0, 0.0, -np.inf),
            np.full(len(cost), np.inf),
            sp.vstack([*sides, upper], format="csr"),
            np.concatenate([*right, np.zeros(upper.shape[0])]),
            equal,
            np.zeros(equal.shape[0]),
        )
        answer = program.solve("consistency", TIGHT_TOL)
        forces = np.abs(answer.duals[: 2 * seen.sum()]).reshape(2, -1).sum(axis=0)
        a, b, _, missed = np.split(
            self.unit * answer.point, np.cumsum([scales.shape[1], offsets.shape[1], faces.size])
        )
        theta = self._passes.of.theta(a.reshape(groups, functions), b.reshape(-1, n))
        return Elastic(theta, missed / self.unit, np.asarray(errors.T @ forces > GAIN_TOL))

    def _set_rows(self, psi: Array, faces: ScaledFaces, offsets: int) -> tuple[Any, Any]:
        """Return rows ``<= 0`` and ``= 0``: scales that are not negative, points of faces."""
        groups, functions = self._passes.shape
        kinds = (
            sp.eye_array(functions) if self._passes.basis.nonnegative else np.unique(psi, axis=0)
        )
        scales: Any = sp.kron(sp.eye_array(groups), kinds)
        after = faces.size + len(psi)
        others = sp.csr_array((scales.shape[0], offsets + after))
        upper = [sp.hstack([-scales, others], format="csr")]
        equal = [sp.csr_array((0, groups * functions + offsets + after))]
        owners = np.zeros(len(faces.terms), int) if groups == 1 else faces.terms
        columns = owners[:, None] * functions + np.arange(functions)
        values = faces.h[:, None] * psi[faces.rows]
        entries = np.repeat(np.arange(len(owners)), functions), columns.ravel()
        scaled = sp.csr_array((values.ravel(), entries), (len(owners), groups * functions))
        empty = [sp.csr_array((len(owners), width)) for width in (offsets, len(psi))]
        rows = sp.hstack([scaled, empty[0], -faces.H, empty[1]], format="csr")
        for kind, _, chosen in faces.cones():
            (equal if kind == "zero" else upper).append(rows[chosen])
        return sp.vstack(upper, format="csr"), sp.vstack(equal, format="csr")

    def missed(self, theta: Array) -> Array:
        """Return by how much each of all samples is missed, in units."""
        loss = Predictability("linf", squared=False)
        distance = loss.samples(self.hypothesis, theta, self.rows) / self.unit
        violation = np.maximum(distance - self.tolerance, 0.0)
        scales = self.hypothesis.unclipped_scales(theta, self.rows.features, self._passes.n)
        violation = np.maximum(violation, -scales.min(axis=1, initial=0.0) / self.unit)
        return np.asarray(np.where(self.left_out, 0.0, violation))
