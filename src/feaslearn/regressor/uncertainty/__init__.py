"""How sure a fitted model is: refits on samples drawn again, and a closed form."""

from __future__ import annotations

from feaslearn.regressor.uncertainty.bands import Bands
from feaslearn.regressor.uncertainty.bootstrap import Bootstrap
from feaslearn.regressor.uncertainty.sandwich import Sandwich

__all__ = ["Bands", "Bootstrap", "Sandwich"]
