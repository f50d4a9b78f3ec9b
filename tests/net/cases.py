"""The cases of the safety net: fits of every kind on small data, each made by one call.

`record.py` writes what they answer; the tests of this folder compare. Model files in `models/`
were written by the version that `recorded.json` names, and load for ever.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, StandardScaler

import feaslearn as fl
from feaslearn import trainers
from feaslearn.exceptions import FeaslearnWarning

Array = NDArray[np.float64]

HERE = Path(__file__).parent
MODELS = HERE / "models"


class Table(NamedTuple):
    """Samples to learn from, 50 signals to predict at, and other prices for a what-if."""

    signals: Array
    decisions: Array
    cost: Any
    new: Array
    prices: Array
    weights: Array | None = None


def _table(make: Callable[..., fl.Decisions], rows: int, **options: Any) -> Table:
    data, new = make(rows, random_state=1, **options), make(50, random_state=2, **options)
    prices = np.random.default_rng(3).uniform(0.2, 2.0, (50, data.decisions.shape[1]))
    return Table(data.signals, data.decisions, data.cost, new.signals, prices)


def _gaps(table: Table) -> Table:
    """Hide a tenth of the decisions, and all of one sample."""
    decisions = table.decisions.copy()
    decisions[np.random.default_rng(4).uniform(size=decisions.shape) < 0.1] = np.nan
    decisions[7] = np.nan
    return table._replace(decisions=decisions)


def _weights(table: Table) -> Table:
    """Weigh the samples, some of them by nothing."""
    weights = np.random.default_rng(5).uniform(0.0, 2.0, len(table.signals))
    weights[::9] = 0.0
    return table._replace(weights=weights)


def _ties(table: Table) -> Table:
    """Prices with one digit, among which many are equal."""
    signals = table.signals.copy()
    signals[:, :3] = np.round(signals[:, :3], 1)
    new = table.new.copy()
    new[:, :3] = np.round(new[:, :3], 1)
    return table._replace(signals=signals, new=new, prices=np.round(table.prices))


TABLES: dict[str, Callable[[], Table]] = {
    "switch": lambda: _table(fl.datasets.make_switch, 60),
    "power": lambda: _table(fl.datasets.make_power5, 100),
    "noisy": lambda: _table(fl.datasets.make_power5, 120, noise=0.2),
    "gaps": lambda: _gaps(table("noisy")),
    "weights": lambda: _weights(table("noisy")),
    "ties": lambda: _ties(table("power")),
    "l1": lambda: _table(fl.datasets.make_l1_ball, 60, n=2, low=-1.0),
    "l1-5": lambda: _table(fl.datasets.make_l1_ball, 100, n=5),
    "ellipsoid": lambda: _table(fl.datasets.make_ellipsoid, 80, n=2),
    "plant": lambda: _table(fl.datasets.make_flexible_plant, 40, hours=6),
    "grid": lambda: _table(
        partial(fl.datasets.make_dcopf, "pglib_opf_case5_pjm"), 200, zones=4, load_range=(0.6, 1.0)
    ),
    "small": lambda: _table(fl.datasets.make_l1_ball, 8, n=2, noise=0.1),
}


@cache
def table(name: str) -> Table:
    """Return the samples of that name; cases share them."""
    return TABLES[name]()


class Case(NamedTuple):
    """A fit: its samples, its hypothesis and the options of the estimator."""

    table: str
    hypothesis: Callable[[], Any]
    options: Mapping[str, Any] = {}

    def model(self, **options: Any) -> fl.RegionRegressor:
        """Return the estimator before it is fitted."""
        given = {"cost": table(self.table).cost, "random_state": 0, **self.options, **options}
        return fl.RegionRegressor(self.hypothesis(), **given)

    def fit(self, **options: Any) -> fl.RegionRegressor:
        """Return the fitted estimator."""
        data = table(self.table)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FeaslearnWarning)
            return self.model(**options).fit(
                data.signals, data.decisions, sample_weight=data.weights
            )


DEMAND = fl.AffineCost([0.0], [[0, 0, 0, 1, 1, 1, 1, 1]])
KNOWN = {
    "box": fl.Known(bounds=(0.0, 3.5), contradictions="keep"),
    "balance": fl.Known(balance=(np.ones(3), DEMAND), contradictions="keep"),
    "both": fl.Known(bounds=(0.0, 3.5), balance=(np.ones(3), DEMAND), contradictions="project"),
    "rows": fl.Known(G=[[-1.0, -1.0, 0.0]], g=[-5.0], contradictions="drop"),
    "columns": fl.Known(bounds=([0.0, 0.0, 0.0], [None, 3.5, 9.0]), contradictions="keep"),
}
HYPERSIMPLICES = fl.Minkowski.hypersimplices
PLAINLY = {"trainer": trainers.Convex(ridge=1e-3, sparsity=0.0)}
SUMS: dict[str, Callable[[], Any]] = {
    "hypersimplices": lambda: HYPERSIMPLICES(3),
    "shared": lambda: HYPERSIMPLICES(3, scale="shared"),
    "constant": lambda: HYPERSIMPLICES(3, scale="constant"),
    "box-scale": lambda: HYPERSIMPLICES(3, scale="box"),
    "tents": lambda: HYPERSIMPLICES(3, scale="tents", n_knots=4),
    "pairs": lambda: fl.Minkowski.pairs(3, offset=False),
    "simplices": lambda: fl.Minkowski.simplices(3, [2, 3], reflected=True),
    "capacities": lambda: fl.Minkowski.weighted_simplices([3.5, 3.5, 3.5], [2]),
    "windows": lambda: fl.Minkowski.windows(3, [2, 3]),
    "smoothed": lambda: fl.Minkowski.smoothed(3, [2]),
    "segments": lambda: fl.Minkowski.segments([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]]),
    "union": lambda: fl.Minkowski.union(HYPERSIMPLICES(3), fl.Minkowski.box(3)),
    "balls": lambda: fl.Minkowski([fl.Term(fl.L1Ball(3)), fl.Term(fl.L2Ball(3))]),
    "auto-sum": lambda: fl.Minkowski("auto", scale="affine"),
    "policy": lambda: fl.Affine(fl.Simplex(1)),
    "scaled-simplex": lambda: fl.Scaled(fl.Simplex(3)),
    "scaled-box": lambda: fl.Scaled(fl.Box(3, [-1.0, 0.0, 0.0], 1.0)),
    "scaled-l1": lambda: fl.Scaled(fl.L1Ball(3)),
    "scaled-l2": lambda: fl.Scaled(fl.L2Ball(3)),
    "scaled-hypersimplex": lambda: fl.Scaled(fl.Hypersimplex(3, 2)),
    "scaled-polytope": lambda: fl.Scaled(
        fl.Polytope(np.vstack([np.eye(3), -np.ones((1, 3))]), [0.0, 0.0, 0.0, -2.0])
    ),
    "scaled-conic": lambda: fl.Scaled(_half_ball()),
    "scaled-product": lambda: fl.Scaled(fl.Product([fl.Simplex(2), fl.Box(1)])),
}


def _half_ball() -> fl.ConicSet:
    H = np.vstack([np.zeros(3), np.eye(3), [0.0, 0.0, 1.0]])
    return fl.ConicSet(H, [-1.0, 0, 0, 0, 0], [("second-order", 4), ("nonnegative", 1)])


LOSSES = {
    "p-l1": fl.Predictability("l1", squared=False),
    "p-l2": fl.Predictability("l2", squared=False),
    "p-linf": fl.Predictability("linf", squared=False),
    "s-l2": fl.Suboptimality(),
    "s-l1": fl.Suboptimality("l1", squared=False),
    "s-linf-raw": fl.Suboptimality("linf", squared=False, normalize_cost=False),
}


def _exact() -> dict[str, Case]:
    """Return the fits whose optimum is global: the same within rounding in every version."""
    cases = {f"noisy {name}": Case("noisy", make, PLAINLY) for name, make in SUMS.items()}
    some = ("hypersimplices", "box-scale", "tents", "policy", "scaled-simplex", "scaled-l2")
    for data in ("gaps", "weights", "ties"):
        cases |= {f"{data} {name}": Case(data, SUMS[name], PLAINLY) for name in some}
    for name in ("hypersimplices", "policy", "scaled-simplex", "scaled-l1"):
        for label, loss in LOSSES.items():
            cases[f"noisy {name} {label}"] = Case("noisy", SUMS[name], {"loss": loss, **PLAINLY})
    cases |= {
        "noisy max": Case("noisy", SUMS["hypersimplices"], {"sense": "max", **PLAINLY}),
        "noisy all features": Case("noisy", SUMS["constant"], {"features": "all", **PLAINLY}),
        "noisy polynomials": Case(
            "noisy", SUMS["hypersimplices"], {"features": PolynomialFeatures(2), **PLAINLY}
        ),
        "noisy splines": Case(
            "noisy", SUMS["constant"], {"features": SplineTransformer(n_knots=3), **PLAINLY}
        ),
        "noisy scaler": Case(
            "noisy", SUMS["hypersimplices"], {"features": StandardScaler(), **PLAINLY}
        ),
        "noisy affine cost": Case(
            "noisy",
            SUMS["hypersimplices"],
            {"cost": fl.AffineCost([0.1, 0.2, 0.3], np.eye(3, 8)), **PLAINLY},
        ),
        "noisy robust": Case(
            "noisy", SUMS["hypersimplices"], {"trainer": trainers.Convex(robust=True)}
        ),
        "power auto penalties": Case("power", SUMS["hypersimplices"]),
        "power auto-sum": Case("power", SUMS["auto-sum"]),
        "switch scaled": Case("switch", lambda: fl.Scaled(fl.Simplex(2))),
        "l1 scaled": Case("l1", lambda: fl.Scaled(fl.L1Ball(2))),
        "l1-5 auto-sum": Case("l1-5", lambda: fl.Minkowski("auto", scale="affine")),
        "ellipsoid balls": Case("ellipsoid", lambda: fl.Minkowski([fl.Term(fl.L2Ball(2))])),
        "plant windows": Case("plant", lambda: fl.Minkowski.windows(6, [2, 6]), PLAINLY),
        "no cost": Case("noisy", SUMS["policy"], {"cost": None, **PLAINLY}),
        "small binary": Case(
            "small",
            lambda: fl.Affine(fl.Simplex(2, binary=True)),
            {"loss": fl.Predictability("l1", squared=False), "trainer": trainers.MixedInteger()},
        ),
        "small ternary": Case(
            "small",
            lambda: fl.Ternary(fl.Simplex(2)),
            {"loss": fl.Predictability("l1", squared=False), "trainer": trainers.MixedInteger()},
        ),
    }
    return cases


EXACT = _exact()

#: Fits within known constraints end in a local search: the mean over five seeds is compared.
REFITS: dict[str, Case] = {
    f"noisy {name} known {label}": Case("noisy", SUMS[name], {"known": KNOWN[label], **PLAINLY})
    for name, label in (
        ("hypersimplices", "box"),
        ("hypersimplices", "balance"),
        ("hypersimplices", "rows"),
        ("pairs", "both"),
        ("scaled-simplex", "columns"),
        ("policy", "balance"),
        ("policy", "rows"),
    )
}

#: Local searches: the mean of their losses over ten seeds is compared.
SEARCHES: dict[str, Case] = {
    "annealing": Case(
        "power",
        lambda: fl.Affine(fl.Simplex(4)),
        {"trainer": trainers.Annealing(n_starts=1, ridge=0.1, ridge_floor=1.0, max_iter=40)},
    ),
    "annealing l1": Case(
        "noisy",
        lambda: fl.Affine(fl.Simplex(3)),
        {
            "trainer": trainers.Annealing(n_starts=1, ridge=0.1, ridge_floor=1.0, max_iter=40),
            "loss": fl.Predictability("l1", squared=False),
        },
    ),
    "annealing ball": Case(
        "ellipsoid",
        lambda: fl.Affine(fl.L2Ball(2)),
        {"trainer": trainers.Annealing(n_starts=1, ridge=0.01, ridge_floor=1.0, max_iter=40)},
    ),
    "descent": Case(
        "power",
        lambda: fl.Affine(fl.Simplex(4)),
        {"trainer": trainers.GradientDescent(n_starts=1, max_iter=60)},
    ),
    "descent suboptimality": Case(
        "noisy",
        lambda: fl.Affine(fl.Simplex(3)),
        {
            "trainer": trainers.GradientDescent(n_starts=1, max_iter=20),
            "loss": "suboptimality",
        },
    ),
    "algorithm 2": Case(
        "l1-5",
        lambda: fl.Affine(fl.Simplex(5)),
        {"trainer": trainers.AdaptiveSmoothing(max_iter=40)},
    ),
    "algorithm 2 ball": Case(
        "l1",
        lambda: fl.Affine(fl.L2Ball(2)),
        {"trainer": trainers.AdaptiveSmoothing(max_iter=20)},
    ),
}
#: Seeds of each case of a group that is compared by its mean loss.
SEEDS = {"searches": range(10), "refits": range(5)}

#: Compared by quality alone: how they search is free to change.
QUALITY: dict[str, Case] = {
    "facets power": Case("power", fl.Facets),
    "facets noisy": Case("noisy", fl.Facets),
    "facets known": Case("power", fl.Facets, {"known": KNOWN["both"]}),
    "facets grid": Case("grid", fl.Facets),
    "facets l1-5": Case("l1-5", fl.Facets),
    "default switch": Case("switch", lambda: None),
    "default power": Case("power", lambda: None),
    "default l1": Case("l1", lambda: None),
}

GROUPS = {"exact": EXACT, "refits": REFITS, "searches": SEARCHES, "quality": QUALITY}


#: Model files beside those of the fits above, of what only a file remembers or what is gone since,
#: with the samples they were fitted to. Nothing makes them again.
FILES: dict[str, str] = {
    "stream": "noisy",
    "stream affine": "noisy",
    "blend": "noisy",
    "named": "noisy",
    "generator": "switch",
    "known contain": "noisy",
    "grown simplices": "noisy",
    "grown segments": "noisy",
    "grown box scale": "noisy",
    "patience": "noisy",
    "facet options": "noisy",
}


def path_of(name: str) -> Path:
    """Return where the model file of a case stands."""
    return MODELS / f"{name.replace(' ', '_')}.json"
