"""What the examples share: tuned regressors to compare with, tables, and where files are."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table
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

DATA = Path(__file__).parent / "data"
PICTURES = Path(__file__).parent / "pictures"
OURS = "learned region"
Item = TypeVar("Item")


def regressors(n_signals: int, quick: bool, *before: Any) -> dict[str, Any]:
    """Return regressors of scikit-learn, each tuned by 5-fold cross-validation when it is fitted.

    ``before`` are transformers of the signals. In quick mode those are left out that take more than
    a second.
    """
    kernel = RBF(np.ones(n_signals)) + WhiteKernel(1e-2)
    trees = {"min_samples_leaf": [1, 3], "max_features": [0.3, 1.0]}
    neighbors = {"n_neighbors": [3, 5, 10, 20], "weights": ["uniform", "distance"]}
    grids: dict[str, tuple[Any, dict[str, list[Any]]]] = {
        "ridge": (Ridge(), {"alpha": [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0]}),
        "nearest neighbours": (KNeighborsRegressor(), neighbors),
    }
    if not quick:
        grids |= {
            "random forest": (RandomForestRegressor(random_state=0), trees),
            "extra trees": (ExtraTreesRegressor(random_state=0), trees),
            "gradient boosting": (
                MultiOutputRegressor(GradientBoostingRegressor(random_state=0)),
                {"estimator__max_depth": [2, 3]},
            ),
            "neural network": (
                MLPRegressor(max_iter=2000, early_stopping=True, random_state=0),
                {"hidden_layer_sizes": [(64,), (128, 64)], "alpha": [1e-4, 1e-2]},
            ),
            "Gaussian process": (
                GaussianProcessRegressor(kernel, normalize_y=True, random_state=0),
                {},  # the likelihood tunes its widths and its noise
            ),
        }
    searches = {}
    for name, (estimator, grid) in grids.items():
        pipeline = make_pipeline(*before, StandardScaler(), estimator)
        step = pipeline.steps[-1][0]
        named = {f"{step}__{key}": grid[key] for key in grid}
        searches[name] = GridSearchCV(pipeline, named, cv=5) if named else pipeline
    return searches


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table whose first column is text and whose others are numbers."""
    table = Table(box=box.SIMPLE_HEAD)
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console = Console(width=110, highlight=False)
    console.print(title, style="bold")
    console.print(table)


def steps(items: Sequence[Item], text: str) -> Iterable[Item]:
    """Go through the items with a bar that shows how far it is, where there is a terminal."""
    return track(items, description=text, transient=True, disable=not sys.stdout.isatty())


def main(name: str, run: Callable[[bool], Any], draw: Callable[[Any], Any]) -> None:
    """Run an example as its command line says; write its picture, and say where."""
    figure = draw(run("--quick" in sys.argv[1:]))
    PICTURES.mkdir(exist_ok=True)
    path = PICTURES / f"{name}.png"
    figure.savefig(path, dpi=110)
    print(f"picture: {path.relative_to(PICTURES.parent)}")
