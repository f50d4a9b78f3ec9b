"""Data sets with known truth: the paper's examples and power grids, seeded."""

from __future__ import annotations

from feaslearn.datasets.dc_grid import DcGrid
from feaslearn.datasets.dcopf import make_dcopf
from feaslearn.datasets.linear_program import AffineRows, LinearProgram
from feaslearn.datasets.power import make_power5
from feaslearn.datasets.small import (
    make_flexible_plant,
    make_l1_ball,
    make_switch,
)

__all__ = [
    "AffineRows",
    "DcGrid",
    "LinearProgram",
    "make_dcopf",
    "make_flexible_plant",
    "make_l1_ball",
    "make_power5",
    "make_switch",
]
