"""What an export hands back, and what can be exported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from feaslearn.exceptions import DataError, UnsupportedError
from feaslearn.export.description import Description
from feaslearn.export.model_description import ModelDescription, describe_model
from feaslearn.export.naming import check_distinct
from feaslearn.export.region_description import describe_region
from feaslearn.printable import printable
from feaslearn.region import Region
from feaslearn.regressor.learned_region import LearnedRegion

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Source:
    """What is exported: its rows, and how they move where it is a fitted model."""

    description: Description
    moving: ModelDescription | None = None


def read_source(source: object) -> Source:
    """Return the rows of a region or a fitted model; refuse everything else."""
    if isinstance(source, Region):
        found = Source(describe_region(source))
    elif isinstance(source, LearnedRegion):
        moving = describe_model(source)
        found = Source(moving.description, moving)
    else:
        raise UnsupportedError(
            f"a Region or a fitted RegionRegressor can be exported, not {type(source).__name__}"
        )
    check_distinct(found.description.names)
    return found


def read_region(source: object, name: str) -> Description:
    """Return the rows of a region, for tools that have no parameters."""
    if isinstance(source, LearnedRegion):
        raise UnsupportedError(
            f"{name} holds a region at one signal: give it model.region(signal), not the model"
        )
    return read_source(source).description


@dataclass(eq=False, repr=False)
class Exported:
    """A region in the words of another tool.

    Parameters
    ----------
    tool : str
        The tool.
    x : object
        The decisions: variables of the tool, in the order of ``names``.
    constraints : object
        What holds them in the region; already part of ``model`` where there is one.
    names : dict
        For each decision the name that its variable has in the tool.
    model : object, default=None
        What holds variables and constraints: a Pyomo block, a linopy or gurobipy model.
    phi : object, default=None
        The parameters that say where the signal is, if a fitted model was exported and the tool has
        parameters: features, then the scales of the terms of Minkowski sums.
    moving : ModelDescription, default=None
        How the region moves, if a fitted model was exported.
    assign : callable, default=None
        What gives the tool new values of phi.
    """

    tool: str
    x: Any
    constraints: Any
    names: dict[str, str]
    model: Any = None
    phi: Any = None
    moving: ModelDescription | None = None
    assign: Callable[[Array], None] | None = None

    def __repr__(self) -> str:
        moves = "at one signal" if self.moving is None else "moves with the signal"
        return f"Exported({self.tool}: {printable(', '.join(self.names))}; {moves})"

    def coefficients(self, signal: ArrayLike) -> Array:
        """Return the values of ``phi`` at a signal."""
        return self._needs_model().coefficients(signal)

    def set_signal(self, signal: ArrayLike) -> None:
        """Move the region to a signal; what was built on it need not be built again.

        Raises
        ------
        EmptySetError
            Where the learned and the known rows leave no point.
        """
        values = self._needs_model().coefficients(signal)
        if self.assign is not None:
            self.assign(values)

    def _needs_model(self) -> ModelDescription:
        if self.moving is None:
            raise UnsupportedError(
                "a region at one signal was exported, which does not move; export the fitted model"
            )
        return self.moving


def chosen(x: Any, names: tuple[str, ...], tool: str) -> list[Any]:
    """Return the user's own variables as a list in the order of the decisions.

    A mapping is read by the names of the decisions where it has them, and otherwise in its order.
    """
    if hasattr(x, "keys") and hasattr(x, "__getitem__"):
        keys = list(x.keys())
        items = [x[name] for name in names] if set(names) <= set(keys) else [x[key] for key in keys]
    else:
        try:
            items = list(x.tolist() if hasattr(x, "tolist") else x)
        except TypeError:
            items = [x]
    if len(items) != len(names):
        raise DataError(
            f"{tool}: x holds {len(items)} variables for {len(names)} decisions: {', '.join(names)}"
        )
    return items
