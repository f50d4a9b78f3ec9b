"""Four regressors of scikit-learn with default settings, their predictions scored once and kept."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

Array = NDArray[np.float64]

FOLDER = Path(__file__).parents[2] / "build" / "benchmarks"


def default_regressors() -> dict[str, Callable[[], Any]]:
    """Return the regressors; inputs are standardised, and for the network the outputs too."""

    def network() -> Any:
        return TransformedTargetRegressor(MLPRegressor(random_state=0), transformer=scaler())

    scaler = StandardScaler
    return {
        "ridge": lambda: make_pipeline(scaler(), Ridge()),
        "trees": lambda: make_pipeline(scaler(), ExtraTreesRegressor(random_state=0)),
        "boosting": lambda: make_pipeline(
            scaler(), MultiOutputRegressor(HistGradientBoostingRegressor(random_state=0))
        ),
        "network": lambda: make_pipeline(scaler(), network()),
    }


def r2_against(mean: Array, observed: Array, predicted: Array) -> float:
    """Return R² pooled over decisions, against a mean that is given: that of the training rows."""
    return float(1.0 - ((observed - predicted) ** 2).sum() / ((observed - mean) ** 2).sum())


def regressor_scores(
    key: str, train: tuple[Array, Array], test: tuple[Array, Array], folder: Path = FOLDER
) -> dict[str, float]:
    """Return the test R² of each regressor, from the cache where the key was scored before.

    Parameters
    ----------
    key : str
        What names the rows; their digest and the version of scikit-learn are added.
    train, test : pair of ndarray
        Signals and decisions.
    folder : Path
        Where scores are kept.

    Returns
    -------
    dict of str to float
        Scores by the name of the regressor.
    """
    digest = sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in (*train, *test)))
    path = folder / f"{key}_{digest.hexdigest()[:12]}_sklearn{sklearn.__version__}.json"
    if path.exists():
        return dict(json.loads(path.read_text("utf-8")))
    scores = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a network that stops at its 200 iterations
        for name, make in default_regressors().items():
            predicted = make().fit(*train).predict(test[0])
            scores[name] = r2_against(train[1].mean(axis=0), test[1], predicted)
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(scores) + "\n", "utf-8")
    return scores
