"""Seven regressors of scikit-learn, each tuned by its own 5-fold cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor, RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def tuned_regressors(n_signals: int, quick: bool = False) -> dict[str, Callable[[], Any]]:
    """Return the regressors of scikit-learn with the grids they are tuned over."""
    kernel = RBF(np.ones(n_signals)) + WhiteKernel(1e-2)
    boosting = MultiOutputRegressor(GradientBoostingRegressor(random_state=0))
    network = MLPRegressor(max_iter=2000, early_stopping=True, random_state=0)
    process = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0)
    tuned: dict[str, tuple[Any, dict[str, list[Any]]]] = {
        "ridge": (Ridge(), {"alpha": [1e-3, 1e-2, 0.1, 1.0, 10.0]}),
        "random forest": (
            RandomForestRegressor(random_state=0),
            {"min_samples_leaf": [1, 3], "max_features": [0.3, 1.0]},
        ),
        "extra trees": (
            ExtraTreesRegressor(random_state=0),
            {"min_samples_leaf": [1, 3], "max_features": [0.3, 1.0]},
        ),
        "gradient boosting": (
            boosting,
            {"estimator__max_depth": [2, 3], "estimator__n_estimators": [100, 300]},
        ),
        "nearest neighbours": (
            KNeighborsRegressor(),
            {"n_neighbors": [3, 5, 10, 20], "weights": ["uniform", "distance"]},
        ),
        "MLP": (
            network,
            {"hidden_layer_sizes": [(64,), (128, 64)], "alpha": [1e-4, 1e-2]},
        ),
        "Gaussian process": (process, {"alpha": [1e-10, 1e-2]}),
    }
    if quick:
        del tuned["MLP"], tuned["Gaussian process"]

    def search(estimator: Any, grid: dict[str, list[Any]]) -> Any:
        name = type(estimator).__name__.lower()
        wide = {f"{name}__{key}": values for key, values in grid.items()}
        return GridSearchCV(make_pipeline(StandardScaler(), estimator), wide, cv=5, n_jobs=2)

    return {name: lambda pair=pair: search(*pair) for name, pair in tuned.items()}
