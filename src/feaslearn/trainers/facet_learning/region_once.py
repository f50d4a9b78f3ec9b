"""Regions on the way to a learned one, found once and kept in the checkpoint."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.trainers.facet_learning.facet_search import GrowthOptions


def region_once(
    options: GrowthOptions,
    name: str,
    work: Callable[[GrowthOptions], FacetRows],
    random: np.random.Generator | None = None,
) -> FacetRows:
    """Return the region that ``work`` finds, from the checkpoint if it was found before."""

    def found() -> list[object]:
        return list(work(options.within(name)))

    return FacetRows(*options.run.once(name, found, random))
