"""Exported regions, and the sources that can be exported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import (
    DataError,
    EmptySetError,
    InfeasibleProblemError,
    Problems,
    UnsupportedError,
)
from feaslearn.export.naming import check_distinct, distinct_names
from feaslearn.known import ResolvedKnown
from feaslearn.messages import did_you_mean, list_first
from feaslearn.printable import printable
from feaslearn.region import Region, RegionForm
from feaslearn.regressor.learned_region import LearnedRegion, name_facets
from feaslearn.regressor.reader import (
    check_fitted,
    check_signals,
    decision_names,
    features_of,
    one_row,
    regions_of,
)
from feaslearn.tolerances import SAME_TOL


@dataclass(frozen=True, eq=False)
class Source:
    """What is exported: decisions, rows, and how they move where it is a fitted model."""

    names: tuple[str, ...]
    form: RegionForm
    moving: Moving | None = None
    signals: tuple[Any, ...] = ()


@dataclass(frozen=True, eq=False)
class Moving:
    """The rows of a fitted model, and the values of their weights at a signal."""

    model: LearnedRegion
    form: RegionForm
    names: tuple[str, ...]
    kept: Mask

    def coefficients(self, signal: ArrayLike) -> Array:
        """Return the weights at a signal, or a frame of one row."""
        signals = check_signals(self.model, one_row(signal))
        if len(signals) != 1:
            raise DataError(f"{len(signals)} signals were given; give one")
        features, no_cost = features_of(self.model, signals), np.zeros((1, self.form.n))
        if regions_of(self.model).solve(self.model.theta_, features, no_cost).empty[0]:
            raise EmptySetError(
                "no decision satisfies all learned and known rows at this signal; "
                "model.region(signal) relaxes them as little as possible: export that"
            )
        return np.asarray(self.weights(signals)[0])

    def weights(self, signals: Array) -> Array:
        """Return the weights at rows of signals."""
        phi, known = self.model.features_.transform(signals), None
        if self.model.known_ is not None:
            known = self.model.known_.at(signals).columns()
            if (np.isfinite(known) != self.kept).any():
                raise UnsupportedError(
                    "a known bound is infinite at some signals and finite at others, which no "
                    "fixed set of rows can say; export model.region(signal)"
                )
            known = known[:, self.kept]
        return self.form.weights(phi, known)

    def affine(self) -> tuple[Array, Array]:
        """Return T and t where the weights are T s + t; refuse those that are not affine in s."""
        count = self.model.n_features_in_
        corners = 1.0 + np.vstack([np.zeros(count), np.eye(count)])
        trials = 1.0 + np.random.default_rng(0).uniform(size=(4, count))
        try:
            found = self.weights(corners)
            slopes = found[1:] - found[0]
            constants = found[0] - slopes.sum(axis=0)
            wrong = np.abs(self.weights(trials) - trials @ slopes - constants)
        except DataError as error:
            raise UnsupportedError(f"signals as variables: {error}") from error
        if wrong.max() > SAME_TOL * max(1.0, float(np.abs(found).max())):
            which = self.names[int(wrong.max(axis=0).argmax())]
            raise UnsupportedError(
                f"{which!r} is not affine in the signals, so the rows are not linear in decisions "
                "and signals together; export the model without signals="
            )
        return slopes.T, constants


def read_source(source: object, signals: Any = None) -> Source:
    """Return the rows of a region or a fitted model; refuse everything else."""
    if signals is not None:
        if not isinstance(source, LearnedRegion):
            raise UnsupportedError("signals=: a region at one signal does not move; give the model")
        return _with_signals(source, signals)
    if isinstance(source, Region):
        found = Source(source.names, _region_form(source))
    elif isinstance(source, LearnedRegion):
        moving = _moving(source)
        found = Source(decision_names(source), moving.form, moving)
    else:
        raise UnsupportedError(
            f"a Region or a fitted RegionRegressor can be exported, not {type(source).__name__}"
        )
    check_distinct(found.names)
    return found


def _with_signals(model: LearnedRegion, signals: Any) -> Source:
    """Return the rows of a model in decisions and signals together."""
    if not hasattr(signals, "keys"):
        raise DataError("signals= maps names of signals to variables, such as {'demand': demand}")
    moving = _moving(model)
    slopes, constants = moving.affine()
    named = getattr(model, "feature_names_in_", range(model.n_features_in_))
    labels = [str(label) for label in named]
    given = {str(name): signals[name] for name in signals}
    used = np.abs(slopes).max(axis=0) > 0.0
    problems = Problems()
    for name in given:
        if name not in labels:
            problems.add(f"{name!r} is not a signal; {did_you_mean(name, labels)}")
    missing = [name for name, uses in zip(labels, used, strict=True) if uses and name not in given]
    if missing:
        problems.add(
            f"nothing is given for {list_first(list(map(repr, missing[:5])), len(missing))}"
        )
    problems.raise_if_any(DataError, "signals=")
    chosen_signals = [j for j, name in enumerate(labels) if name in given and used[j]]
    form = moving.form.on_signals(slopes[:, chosen_signals], constants)
    columns = tuple(given[labels[j]] for j in chosen_signals)
    return Source(decision_names(model), form, None, columns)


def _region_form(region: Region) -> RegionForm:
    """Return the rows of a region; refuse one that is empty or unbounded."""
    region.image.primitive.check()
    if region.known is not None:
        try:
            region.minimize(np.zeros(region.n))
        except InfeasibleProblemError:
            said = "no decision of the region satisfies the known constraints"
            raise EmptySetError(said) from None
    return region.form


def _moving(model: LearnedRegion) -> Moving:
    """Return the rows of a fitted model."""
    check_fitted(model)
    decisions = decision_names(model)
    n, k, features = len(decisions), model.features_.n_features, model.features_.names
    if model.known_ is None:
        form, kept = model.hypothesis_.describe(model.theta_, n, k), np.zeros(0, dtype=bool)
    else:
        kept = _finite_sides(model.known_, model.features_.n_signals)
        shape, rows = model.known_.shape, model.known_.row_names(decisions)
        names = [f"known: {name}" for name, stays in zip(rows, kept, strict=True) if stays]
        within = regions_of(model).describe(model.theta_, n, k + shape.width)
        form = within.keep_known(kept, names)
    form = name_facets(form, model)
    return Moving(model, form, (*distinct_names(features), *form.known, *form.scale_names), kept)


def _finite_sides(known: ResolvedKnown, n_signals: int) -> Mask:
    """Return which right-hand sides are finite; those that are not are so at every signal."""
    anywhere, sides = np.zeros((1, n_signals)), []
    for side in (known.g, known.lower, known.upper, known.e):
        try:
            sides.append(np.isfinite(side.evaluate(anywhere)[0]))
        except DataError:
            # A function that does not take zeros gives numbers at other signals.
            sides.append(np.ones(side.size, dtype=bool))
    return np.concatenate(sides)


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
    rows : dict
        For each row of the region, such as "facet_2", the name that it has in the tool.
    model : object, default=None
        What holds variables and constraints: a Pyomo block.
    phi : object, default=None
        The parameters that say where the signal is, if a fitted model was exported and the tool has
        parameters: features, then the scales of the terms of Minkowski sums.
    moving : Moving, default=None
        How the region moves, if a fitted model was exported.
    assign : callable, default=None
        What gives the tool new values of phi.
    """

    tool: str
    x: Any
    constraints: Any
    names: dict[str, str]
    rows: dict[str, str]
    model: Any = None
    phi: Any = None
    moving: Moving | None = None
    assign: Callable[[Array], None] | None = None

    def __repr__(self) -> str:
        moves = "at one signal" if self.moving is None else "moves with the signal"
        return f"Exported({self.tool}: {printable(', '.join(self.names))}; {moves})"

    def coefficients(self, signal: ArrayLike) -> Array:
        """Return the values of ``phi`` at a signal."""
        if self.moving is None:
            raise UnsupportedError(
                "a region at one signal was exported, which does not move; export the fitted model"
            )
        return self.moving.coefficients(signal)

    def set_signal(self, signal: ArrayLike) -> None:
        """Move the region to a signal; what was built on it need not be built again.

        Raises
        ------
        EmptySetError
            Where the learned and the known rows leave no point.
        """
        values = self.coefficients(signal)
        if self.assign is not None:
            self.assign(values)


def chosen(x: Any, names: tuple[str, ...], tool: str) -> list[Any]:
    """Return the user's variables as a list in the order of the decisions."""
    if hasattr(x, "keys") and hasattr(x, "__getitem__"):
        keys = list(x.keys())
        items = [x[key] for key in (names if set(names) <= set(keys) else keys)]
    else:
        x = x.tolist() if hasattr(x, "tolist") else x
        items = list(x) if hasattr(x, "__iter__") else [x]
    if len(items) != len(names):
        raise DataError(
            f"{tool}: x holds {len(items)} variables for {len(names)} decisions: {', '.join(names)}"
        )
    return items
