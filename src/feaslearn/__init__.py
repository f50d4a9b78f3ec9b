"""Learn the constraints behind decisions.

From pairs of a signal ``s`` and a decision ``x``, and a known linear cost ``c(s)``, feaslearn
learns a region ``R(s)`` such that

.. math:: x \\in \\operatorname{argmin}_{y \\in R(s)} c(s)^\\top y .

Every public name is loaded when it is first used: ``import feaslearn`` costs next to nothing.

Examples
--------
>>> import feaslearn as fl
>>> fl.Simplex(3).dimension
3
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from feaslearn import (
        datasets,
        distributed,
        exceptions,
        export,
        hypotheses,
        metrics,
        plots,
        report,
        sets,
        trainers,
    )
    from feaslearn.costs import AffineCost, FunctionCost
    from feaslearn.data import Chunks, Decisions
    from feaslearn.hypotheses import (
        Affine,
        Facets,
        Minkowski,
        Term,
    )
    from feaslearn.io import load, save
    from feaslearn.known import Known
    from feaslearn.metrics import evaluate
    from feaslearn.region import Region
    from feaslearn.regressor import RegionRegressor
    from feaslearn.sets import (
        Box,
        Hypersimplex,
        L1Ball,
        L2Ball,
        Polytope,
        Simplex,
    )

__version__ = "0.1.0.dev0"

__all__ = [
    "Affine",
    "AffineCost",
    "Box",
    "Chunks",
    "Decisions",
    "Facets",
    "FunctionCost",
    "Hypersimplex",
    "Known",
    "L1Ball",
    "L2Ball",
    "Minkowski",
    "Polytope",
    "Region",
    "RegionRegressor",
    "Simplex",
    "Term",
    "datasets",
    "distributed",
    "evaluate",
    "exceptions",
    "export",
    "hypotheses",
    "load",
    "metrics",
    "paper",
    "plots",
    "report",
    "save",
    "sets",
    "trainers",
]

# Public name -> the module that holds it. A public name that is not here is a module itself.
_HOMES = {
    name: home
    for home, names in {
        "costs": "AffineCost FunctionCost",
        "data": "Chunks Decisions",
        "hypotheses": "Affine Facets Minkowski Term",
        "io": "load save",
        "known": "Known",
        "metrics": "evaluate",
        "region": "Region",
        "regressor": "RegionRegressor",
        "sets": "Box Hypersimplex L1Ball L2Ball Polytope Simplex",
    }.items()
    for name in names.split()
}

if not TYPE_CHECKING:  # or every misspelt name would pass a type checker

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(_unknown(name))
        from importlib import import_module

        if name in _HOMES:
            value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        else:
            value = import_module(f"{__name__}.{name}")
        globals()[name] = value  # the next look-up does not come through here
        return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def _unknown(name: str) -> str:
    # Not the suggestion of feaslearn.exceptions: that loads scikit-learn, and a mere `hasattr` of
    # a tool that looks around must not.
    from difflib import get_close_matches

    # Compared without case, so that `regionregressor` finds `RegionRegressor`.
    known = {public.lower(): public for public in __all__}
    nearest = get_close_matches(name.lower(), known, n=1)
    hint = f"; did you mean {known[nearest[0]]!r}?" if nearest else ""
    return f"module {__name__!r} has no attribute {name!r}{hint}"
