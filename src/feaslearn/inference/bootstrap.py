"""Bootstrap bands: the dependence of a learned region on its samples."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.exceptions import DataError, FeaslearnWarning
from feaslearn.inference.bands import Bands, bands_of
from feaslearn.regressor.reader import decision_names
from feaslearn.results import as_table, as_text

if TYPE_CHECKING:
    from feaslearn.regressor.learned_region import LearnedRegion


class Bootstrap:
    r"""A model, and the same fitted to samples drawn again.

    Bands are for what the same class would say if it were fitted to ample data. The default,
    "bias-aware", is :math:`\hat x \pm z \sqrt{\sigma^2 + \beta^2}` with the deviation
    :math:`\sigma` of the refits and an estimate :math:`\beta` of what the model is off for having
    seen few samples, from how far refits drift on average.

    Parameters
    ----------
    model : RegionRegressor
        The fitted model.
    refits : sequence of RegionRegressor
        The refits.
    failures : sequence of str
        What went wrong in refits that failed.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_l1_ball(100, n=2, noise=0.1, low=-1.0, random_state=0)
    >>> model = fl.RegionRegressor(fl.Scaled(fl.L1Ball(2)), cost=data.cost)
    >>> model = model.fit(data.signals, data.decisions)
    >>> boot = model.bootstrap(50, random_state=0)
    >>> bands = boot.predict([[0.3, -0.9]])
    >>> bool(bands.contains([[1.0, 2.0]]).all())
    True
    """

    def __init__(
        self, model: LearnedRegion, refits: Sequence[LearnedRegion], failures: Sequence[str] = ()
    ) -> None:
        self.model = model
        self.refits = tuple(refits)
        self.failures = tuple(failures)

    def predict(
        self,
        X: ArrayLike,
        costs: ArrayLike | None = None,
        *,
        level: float = 0.9,
        kind: str = "bias-aware",
    ) -> Bands:
        """Return bands around predicted decisions.

        Parameters
        ----------
        X : array-like or frame of shape (N, K)
            Signals.
        costs : array-like of shape (N, n), default=None
            What-if prices.
        level : float, default=0.9
            The share of bands that should hold the decision of ample data.
        kind : {"bias-aware", "percentile", "basic", "normal"}, default="bias-aware"
            How bands are made of the refits.

        Returns
        -------
        Bands
            One for each entry of each decision, (N, n).
        """
        return self._bands(lambda model: _decisions(model, X, costs), level, kind)

    def support(
        self,
        signal: ArrayLike,
        directions: ArrayLike,
        *,
        level: float = 0.9,
        kind: str = "bias-aware",
    ) -> Bands:
        """Return bands around how far the region reaches, ``max d'x`` over it.

        Parameters
        ----------
        signal : array-like of shape (K,)
            A signal, or a frame of one row.
        directions : array-like of shape (m, n) or (n,)
            Directions d.
        level : float, default=0.9
            The share of bands that should hold the reach of ample data.
        kind : {"bias-aware", "percentile", "basic", "normal"}, default="bias-aware"
            How bands are made of the refits.

        Returns
        -------
        Bands
            One for each direction, (m,).
        """
        rows = as_directions(directions, len(decision_names(self.model)))
        return self._bands(lambda model: _reach(model, signal, rows), level, kind)

    def _bands(self, answer: Callable[[LearnedRegion], Array], level: float, kind: str) -> Bands:
        """Return bands around an answer of the model by those of the refits."""
        center = answer(self.model)
        with warnings.catch_warnings():
            # The model itself warns once.
            warnings.simplefilter("ignore", FeaslearnWarning)
            draws = np.array([answer(refit) for refit in self.refits])
        return bands_of(center, draws, level, kind)

    def rows(self) -> list[tuple[str, str]]:
        """Return what is worth showing, as pairs of a label and a string."""
        shown = [("refits", str(len(self.refits))), ("failed", str(len(self.failures)))]
        losses = [refit.result_.objective for refit in self.refits]
        if losses:
            low, high = np.quantile(losses, [0.05, 0.95])
            shown.append(("training loss", f"{low:.4g} to {high:.4g} in nine of ten refits"))
        return shown + [("warning", text) for text in dict.fromkeys(self.failures)]

    def __repr__(self) -> str:
        return as_text(self.rows())

    def _repr_html_(self) -> str:
        return as_table(self.rows())


def as_directions(directions: ArrayLike, n: int) -> Array:
    """Return directions as rows of n finite numbers."""
    try:
        rows = np.atleast_2d(np.asarray(directions, dtype=float))
    except (TypeError, ValueError):
        raise DataError("support: directions do not hold numbers") from None
    if rows.ndim != 2 or rows.shape[1] != n or not np.isfinite(rows).all():
        raise DataError(
            f"support: directions have shape {np.shape(directions)}, expected (m, {n}), finite"
        )
    return rows


def _decisions(model: LearnedRegion, X: ArrayLike, costs: ArrayLike | None) -> Array:
    decisions = np.asarray(model.predict(X, costs), dtype=float)
    return decisions[:, None] if decisions.ndim == 1 else decisions


def _reach(model: LearnedRegion, signal: ArrayLike, directions: Array) -> Array:
    region = model.region(signal)
    return np.array([region.support(direction) for direction in directions])
