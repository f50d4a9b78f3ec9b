"""What a fitted model knows, in words and numbers."""

from __future__ import annotations

from feaslearn.regressor.explanation.explanation import Explanation, Limit, Outside
from feaslearn.regressor.explanation.seen import Seen

__all__ = ["Explanation", "Limit", "Outside", "Seen"]
