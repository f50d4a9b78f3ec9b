"""How sure a fitted model is: refits on samples drawn again."""

from __future__ import annotations

from feaslearn.regressor.uncertainty.bands import Bands
from feaslearn.regressor.uncertainty.bootstrap import Bootstrap

__all__ = ["Bands", "Bootstrap"]
