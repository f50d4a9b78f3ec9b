"""The region inside a scikit-learn pipeline or search."""

from __future__ import annotations

from typing import Any


def find_inside(model: Any, signals: Any) -> tuple[Any, Any]:
    """Return the last estimator of a search or a pipeline, and what signals become before it."""
    if hasattr(model, "best_estimator_"):
        return find_inside(model.best_estimator_, signals)
    if hasattr(model, "steps"):
        before = model[:-1] if len(model.steps) > 1 and signals is not None else None
        return find_inside(
            model.steps[-1][1], signals if before is None else before.transform(signals)
        )
    return model, signals
