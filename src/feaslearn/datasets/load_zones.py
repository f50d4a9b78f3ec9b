"""Which loads are signals, and how they fall on the buses of a grid."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.datasets._arguments import FloatArray
from feaslearn.datasets.dc_grid import DcGrid
from feaslearn.exceptions import Problems
from feaslearn.problem.forward_problem import check_count


class LoadZones(NamedTuple):
    """``d = fixed + shares z``, the loads of buses from those of zones.

    Parameters
    ----------
    names : tuple of str
        The names of the zones.
    nominal : ndarray of shape (K,)
        Their loads in the file.
    shares : ndarray of shape (B, K)
        The share of each bus in the load of its zone.
    fixed : ndarray of shape (B,)
        Loads that no zone moves: of zones whose loads in the file sum to zero.
    """

    names: tuple[str, ...]
    nominal: FloatArray
    shares: FloatArray
    fixed: FloatArray


def resolve_zones(problems: Problems, grid: DcGrid, zones: object) -> LoadZones | None:
    """Divide the loads into zones.

    Parameters
    ----------
    problems : Problems
        Where to say what is wrong.
    grid : DcGrid
        The grid.
    zones : None, int, "area", "zone" or array_like of shape (B,)
        Every bus by itself; that many zones, the bus numbers dealt out in turn; what the file says;
        or the zone of each bus.

    Returns
    -------
    LoadZones or None
        The zones; None if something is wrong.
    """
    labels = _labels(problems, grid, zones)
    if labels is None:
        return None
    kinds, members = np.unique(labels, return_inverse=True)
    total = np.bincount(members, weights=grid.loads).astype(np.float64)
    # Loads and injections that cancel cannot be scaled by their sum.
    size = np.bincount(members, weights=np.abs(grid.loads))
    moves = np.abs(total) > 1e-6 * size
    if not moves.any():
        problems.add(f"zones: no zone of {grid.name} has a load in the file; loads cannot be drawn")
        return None
    chosen = np.flatnonzero(moves)
    shares = np.zeros((len(grid.buses), len(chosen)))
    for column, kind in enumerate(chosen):
        inside = members == kind
        shares[inside, column] = grid.loads[inside] / total[kind]
    prefix = "load_" if zones is None else "load_z"
    names = tuple(f"{prefix}{kinds[kind]}" for kind in chosen)
    return LoadZones(names, total[chosen], shares, np.where(moves[members], 0.0, grid.loads))


def _labels(problems: Problems, grid: DcGrid, zones: object) -> ArrayLike | None:
    if zones is None:
        return grid.buses
    if isinstance(zones, str):
        if zones not in ("area", "zone"):
            problems.add(f"zones is {zones!r}, expected 'area', 'zone', a number or an array")
            return None
        return grid.areas if zones == "area" else grid.zones
    if np.ndim(zones) == 0:  # type: ignore[arg-type]
        if not check_count(problems, "zones", zones):
            return None
        return np.asarray((grid.buses - 1) % zones + 1)  # type: ignore[operator]
    labels = np.asarray(zones)
    if labels.shape != grid.buses.shape or labels.dtype.kind not in "iuUS":
        problems.add(
            f"zones has shape {labels.shape} and type {labels.dtype}, expected an integer or a "
            f"name for each of the {len(grid.buses)} buses"
        )
        return None
    return labels
