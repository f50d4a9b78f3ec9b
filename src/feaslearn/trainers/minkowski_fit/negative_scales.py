"""Where scales are negative: the rows of all samples that a solution breaks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard, ShardSource
from feaslearn.trainers.minkowski_fit.folds import Numbers
from feaslearn.trainers.minkowski_fit.samples import Samples, Sums
from feaslearn.trainers.minkowski_fit.shard_moments import ShardMoments

Array = NDArray[np.float64]
#: The scale that a row is about, and the row itself as a key.
Row = tuple[int, bytes]

#: Scales that are negative by a smaller share of the largest count as zero.
VIOLATED = 1e-9
#: Rows of each shard and term that are looked at closer, and rows of a term that are added at once.
OF_A_SHARD, AT_ONCE = 4, 400


class Found(NamedTuple):
    """The least and the greatest of each scale, and the rows where scales are most negative.

    ``lowest`` lists term, scale and functions of such rows; ``negative`` counts scales that
    are so by more than rounding.
    """

    least: Array
    greatest: Array
    lowest: list[tuple[int, float, Array]]
    negative: int


class NegativeScales:
    """Looks for rows at which scales are negative.

    Three looks, each only if the one before found nothing: at rows that are at hand; at the corners
    of the smallest box that holds all features, which shows at once where no scale can be negative;
    and at all samples, one pass.

    Parameters
    ----------
    samples : Samples
        The samples.
    sums : Sums
        What the pass before brought: the least and the greatest functions are taken from it.
    """

    def __init__(self, samples: Samples, sums: Sums) -> None:
        self._samples, self._ends = samples, (sums.low, sums.high)
        self.looks = 0
        #: Scales that were negative by more than rounding in the last look.
        self.clipped = 0
        self._kept = np.zeros((0, samples.shape[1]))
        if isinstance(samples.shards, ShardSource):
            # A pass is dear: rows that are at hand say most of what the others will.
            self._kept = samples.of.psi(samples.shards.first.features)

    def find(self, a: Array, known: Mapping[Row, Array]) -> dict[Row, Array]:
        """Return rows where the scales of coefficients ``a`` (G, M) are negative, but for known."""
        if len(self._kept):
            rows = _chosen(_found(self._kept, a), known)
            if rows:
                return rows
        low, high = (end[: a.shape[1]] for end in self._ends)
        if np.minimum(a * low, a * high).sum(axis=1).min() >= 0.0:
            self.clipped = 0
            return {}
        parts = list(self._samples.each(_Look(self._samples.of, a), features_only=True))
        self.looks += 1
        found = Found(
            np.min([part.least for part in parts], axis=0),
            np.max([part.greatest for part in parts], axis=0),
            [row for part in parts for row in part.lowest],
            sum(part.negative for part in parts),
        )
        self.clipped = found.negative
        rows = _chosen(found, known)
        if len(self._kept) and rows:
            self._kept = np.vstack([self._kept, *rows.values()])
        return rows


class NegativeRows:
    """Looks at rows that are at hand, and at no others.

    Parameters
    ----------
    psi : ndarray of shape (R, M)
        The functions of the scales at these rows.
    """

    def __init__(self, psi: Array) -> None:
        self._psi = psi

    def find(self, a: Array, known: Mapping[Row, Array]) -> dict[Row, Array]:
        """Return rows where the scales of coefficients ``a`` (G, M) are negative, but for known."""
        return _chosen(_found(self._psi, a), known) if len(self._psi) else {}


@dataclass(frozen=True)
class _Look:
    """What a pass does with a shard; an object, so that it can be sent."""

    of: ShardMoments
    a: Array

    def __call__(self, shard: Shard, _: Numbers) -> Found:
        return _found(self.of.psi(shard.features), self.a)


def _found(psi: Array, a: Array) -> Found:
    scales = a @ psi.T
    least = scales.min(axis=1)
    last = min(OF_A_SHARD, len(psi)) - 1
    lowest: list[tuple[int, float, Array]] = []
    for t in np.flatnonzero(least < 0.0):
        least_rows = np.argpartition(scales[t], last)[: last + 1]
        rows = (i for i in least_rows if scales[t, i] < 0.0)
        # A view would hold the whole shard.
        lowest += [(int(t), float(scales[t, i]), psi[i].copy()) for i in rows]
    greatest = scales.max(axis=1)
    rounding = VIOLATED * float(max(np.abs(least).max(), np.abs(greatest).max()))
    negative = int(np.count_nonzero(scales < -rounding)) if lowest else 0
    return Found(least, greatest, lowest, negative)


def _chosen(found: Found, known: Mapping[Row, Array]) -> dict[Row, Array]:
    """Return the rows that are broken by more than rounding, not too many of each term."""
    limit = VIOLATED * float(max(np.abs(found.least).max(), np.abs(found.greatest).max()))
    rows: dict[Row, Array] = {}
    for t in range(len(found.least)):
        own = [row[1:] for row in found.lowest if row[0] == t and row[1] < -limit]
        own.sort(key=lambda pair: pair[0])
        # Some of all sizes: the most negative ones alone are all from one corner.
        for _, psi in own[:: -(-len(own) // AT_ONCE) or 1]:
            key = (t, psi.tobytes())
            if key not in known:
                rows[key] = psi
    return rows
