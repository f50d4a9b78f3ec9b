"""Least squares of a scaled set."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard
from feaslearn.hypotheses import Scaled
from feaslearn.losses import Predictability
from feaslearn.sets import AffineImage
from feaslearn.trainers.least_squares import least_squares
from feaslearn.trainers.standardize import weighted_sum

Array = NDArray[np.float64]


class ScaledFit:
    r"""The problem :math:`\min \sum_i w_i \|x_i - \alpha z_i - b(s_i)\|^2`, :math:`\alpha \ge 0`.

    Each :math:`z_i` is the minimiser of its cost over Z. Where minimisers tie, it is one point of
    their face: its centre at first.

    Parameters
    ----------
    hypothesis : Scaled
        The set Z.
    samples : Shard
        Features, costs, decisions and weights.

    Attributes
    ----------
    faces : dict of int to AffineImage
        All minimisers of the samples that have several.
    """

    def __init__(self, hypothesis: Scaled, samples: Shard) -> None:
        n, k = samples.decisions.shape[1], samples.features.shape[1]
        primitive = hypothesis.latent(n)
        self._samples = samples
        self._minimizers = primitive.argmin(samples.costs)
        # Z itself is the region of scale one; the loss knows its ties from compiled code.
        itself = np.concatenate([[1.0], np.zeros(k * n)])
        tied = Predictability().rows(hypothesis, itself, samples).tied
        self.faces = {int(i): primitive.face(samples.costs[i]) for i in np.flatnonzero(tied)}
        for i, face in self.faces.items():
            self._minimizers[i] = face.center()

    def solve(self) -> Array:
        """Return (alpha, b) for the minimisers chosen so far.

        The offset is eliminated first: both x and z are replaced by their residuals on the
        features, which leaves one number to find. It is zero where the features explain z entirely.
        """
        features, _, decisions, weights = self._samples
        masked = np.where(np.isnan(decisions), np.nan, self._minimizers)
        policy, drift = (least_squares(features, table, weights) for table in (decisions, masked))
        x = np.nan_to_num(decisions - features @ policy)
        z = np.nan_to_num(masked - features @ drift)
        moment, product, scale = (
            float(weighted_sum(table, weights).sum())
            for table in (z * z, z * x, self._minimizers**2)
        )
        alpha = max(0.0, product / moment) if moment > 1e-20 * scale else 0.0
        return np.concatenate([[alpha], (policy - alpha * drift).ravel()])

    def choose_nearest(self, theta: Array) -> None:
        """Choose for each tied sample the minimiser that comes nearest to its decision."""
        features, _, decisions, _ = self._samples
        alpha, offsets = theta[0], features @ theta[1:].reshape(features.shape[1], -1)
        if alpha == 0.0:
            return
        for i, face in self.faces.items():
            moved = AffineImage(
                face.primitive, alpha * face.matrix, alpha * face.offset + offsets[i]
            )
            self._minimizers[i] = face.at(moved.nearest(decisions[i]).latent)
