"""The covariance of a fitted model: remembered, or from data that are given again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy.typing import ArrayLike
from sklearn.base import clone

from feaslearn.exceptions import DataError, UnsupportedError
from feaslearn.regressor.checks import check_fit
from feaslearn.regressor.reader import decision_names
from feaslearn.regressor.uncertainty.sandwich import Sandwich, covariance_root, is_linear

if TYPE_CHECKING:
    from feaslearn.regressor.explanation.seen import Seen
    from feaslearn.regressor.region_regressor import RegionRegressor


def sandwich_of(
    model: RegionRegressor,
    seen: Seen,
    X: ArrayLike | None,
    y: ArrayLike | None,
    costs: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> Sandwich:
    """Return the bands of a model; refuse classes and data that have no closed form."""
    if not is_linear(model.hypothesis_, len(decision_names(model))):
        raise UnsupportedError(
            f"sandwich: the decisions of {model.hypothesis_!r} are not linear in its parameters, "
            "so there is no closed form; bootstrap serves every class"
        )
    if model.known is not None:
        raise UnsupportedError(
            "sandwich: with known constraints there is no closed form; bootstrap serves them"
        )
    if X is None or y is None:
        if len(seen.root) != len(model.theta_):
            raise DataError(
                "sandwich: this model is too large to remember its covariance, or was not fitted "
                "by least squares; pass the signals and decisions of the fit, or use bootstrap"
            )
        return Sandwich(model, seen.root)
    data = check_fit(clone(model), X, y, costs, sample_weight)
    rows = data.minimized(model.sense == "max").whole()
    return Sandwich(model, covariance_root(model.hypothesis_, model.theta_, rows))
