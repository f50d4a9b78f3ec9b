"""Decisions out the way they came in: a vector, an array, a series or a frame."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.data import column_names
from feaslearn.exceptions import FeaslearnWarning, Problems
from feaslearn.known import KnownLimits
from feaslearn.messages import list_first, row_number
from feaslearn.tolerances import FEASIBILITY_TOL


@dataclass(frozen=True)
class Outputs:
    """The form of the decisions of a fit: one-dimensional or not, and labels of frames."""

    flat: bool
    labels: tuple[Hashable, ...] | None

    @classmethod
    def of(cls, y: Any) -> Outputs:
        """Look at decisions as the user passed them."""
        labels: tuple[Hashable, ...] | None = None
        if is_frame(y):
            labels = tuple(y.columns)
        elif hasattr(y, "to_numpy"):
            labels = (getattr(y, "name", None),)
        return cls(not is_frame(y) and np.asarray(y).ndim == 1, labels)

    @property
    def names(self) -> tuple[str, ...] | None:
        """The labels as strings; None where decisions have none."""
        if self.labels is None or self.labels in ((None,), ("",)):
            return None
        return tuple(str(label) for label in self.labels)

    def format_like(self, decisions: Array, X: Any) -> Any:
        """Return decisions formatted like y: with the index of ``X`` where both had one.

        pandas and polars are never imported: the frame is made by the class of ``X``.
        """
        if self.labels is None or not is_frame(X):
            return decisions[:, 0] if self.flat else decisions
        if hasattr(X, "index"):
            frame = type(X)(decisions, columns=list(self.labels), index=X.index)
            return frame.iloc[:, 0] if self.flat else frame
        names = ["" if label is None else str(label) for label in self.labels]
        frame = type(X)(decisions, schema=names, orient="row")
        return frame.to_series().alias(names[0]) if self.flat else frame

    def check_order(self, table: object, name: str, problems: Problems) -> None:
        """Add to ``problems`` a table with the columns of y in another order."""
        names, ours = column_names(table), self.names
        if names is None or ours is None or names == ours:
            return
        if sorted(names) == sorted(ours):
            problems.add(
                f"{name}: the columns {_few(names)} are in another order than those of the "
                f"decisions, {_few(ours)}; put them in the same order"
            )


def is_frame(values: object) -> bool:
    """Say whether something is a pandas or polars frame, or looks like one."""
    return hasattr(values, "to_numpy") and hasattr(values, "columns")


def _few(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")


def warn_of_empty_regions(
    empty: Mask,
    known: KnownLimits | None = None,
    decisions: Array | None = None,
) -> None:
    """Say at which rows no decision satisfies all that was learned, and all that is known."""
    rows = np.flatnonzero(empty)
    if not len(rows):
        return
    what, returned = "is empty", "a decision that violates it as little as possible"
    if known is not None and decisions is not None:
        what = "has no decision that satisfies the known constraints"
        returned = "the decision nearest to it that does"
        violated = rows[known.rows(rows).violated(decisions[rows], FEASIBILITY_TOL)]
        if len(violated):
            gap = known.rows(violated).violation(decisions[violated]).max()
            warnings.warn(
                f"the known constraints contradict each other at {_places(violated)}: no decision "
                f"satisfies them, and the one returned violates them by up to {gap:.4g}, as little "
                "as possible; check bounds and balances at these signals",
                FeaslearnWarning,
                stacklevel=3,
            )
            rows = np.setdiff1d(rows, violated)
    if len(rows):
        warnings.warn(
            f"the learned region {what} at {_places(rows)}: {returned} was returned; are these "
            "signals unlike those of the training data?",
            FeaslearnWarning,
            stacklevel=3,
        )


def _places(rows: Indices) -> str:
    return list_first([f"row {row_number(row)}" for row in rows[:5]], len(rows))
