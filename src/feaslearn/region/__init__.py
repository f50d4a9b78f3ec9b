"""Regions of decisions: their rows, minima over them, and one region at a signal."""

from __future__ import annotations

from feaslearn.region.form import RegionForm, Row
from feaslearn.region.minimize import Solved, minimize
from feaslearn.region.region import Region

__all__ = ["Region", "RegionForm", "Row", "Solved", "minimize"]
