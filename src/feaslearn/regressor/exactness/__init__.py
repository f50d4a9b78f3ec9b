"""Can any region of a class explain data exactly?"""

from __future__ import annotations

from feaslearn.regressor.exactness.decide import consistency
from feaslearn.regressor.exactness.verdict import Verdict

__all__ = ["Verdict", "consistency"]
