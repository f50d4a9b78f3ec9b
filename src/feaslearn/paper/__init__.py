"""The system of Ren, Mohajerin Esfahani and Georghiou, "Inverse Optimization via Learning Feasible
Regions", ICML 2025, complete and on its own.

A table of contents. Data and problem: `Data`, `Problem`, `Found`. Regions, equation (7):
`Affine`, `Scaled` and `Ternary` images of a set, `ConicSet`. Losses, equation (5):
`Predictability`, `Suboptimality`. Global optima: `bilinear` (Theorem 3.3), and of the classes of
Section 3.3 `convex`, `mixed_integer` and `ternary`. Problem 2 of section 5.2: `learn_network` among
the lines of a `TransportNetwork`. `evaluate` measures what the tables of the paper show; what they
are made from, and what they compare with: `datasets`, `baselines`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from feaslearn.paper import baselines, datasets
    from feaslearn.paper.algorithm_1 import algorithm1
    from feaslearn.paper.algorithm_2 import algorithm2
    from feaslearn.paper.bilinear_program import bilinear
    from feaslearn.paper.descent import linear_start, random_start
    from feaslearn.paper.evaluation import Evaluation, evaluate
    from feaslearn.paper.losses import Predictability, Suboptimality
    from feaslearn.paper.losses.programs import losses_by_program
    from feaslearn.paper.milp import mixed_integer
    from feaslearn.paper.network import LearnedNetwork, TransportNetwork, learn_network
    from feaslearn.paper.problem import Clock, Data, Found, Problem, Samples
    from feaslearn.paper.regions import (
        Affine,
        ConicSet,
        Image,
        Maps,
        Scaled,
        Ternary,
    )
    from feaslearn.paper.scaled import convex
    from feaslearn.paper.ternary_map import ternary
    from feaslearn.paper.truth import AffineRows, KnownRegion, LinearProgram

# The module that holds each name.
_HOMES = {
    name: home
    for home, names in {
        "algorithm_1": "algorithm1",
        "algorithm_2": "algorithm2",
        "descent": "linear_start random_start",
        "problem": "Clock Data Found Problem Samples",
        "regions": "Affine ConicSet Image Maps Scaled Ternary",
        "losses": "Predictability Suboptimality",
        "losses.programs": "losses_by_program",
        "scaled": "convex",
        "milp": "mixed_integer",
        "ternary_map": "ternary",
        "bilinear_program": "bilinear",
        "evaluation": "Evaluation evaluate",
        "network": "LearnedNetwork TransportNetwork learn_network",
        "truth": "AffineRows KnownRegion LinearProgram",
    }.items()
    for name in names.split()
}

_MODULES = ("baselines", "datasets")

__all__ = [
    "Affine",
    "AffineRows",
    "Clock",
    "ConicSet",
    "Data",
    "Evaluation",
    "Found",
    "Image",
    "KnownRegion",
    "LearnedNetwork",
    "LinearProgram",
    "Maps",
    "Predictability",
    "Problem",
    "Samples",
    "Scaled",
    "Suboptimality",
    "Ternary",
    "TransportNetwork",
    "algorithm1",
    "algorithm2",
    "baselines",
    "bilinear",
    "convex",
    "datasets",
    "evaluate",
    "learn_network",
    "linear_start",
    "losses_by_program",
    "mixed_integer",
    "random_start",
    "ternary",
]

if not TYPE_CHECKING:  # or every misspelt name would pass a type checker

    def __getattr__(name: str) -> object:
        if name in _MODULES:
            return import_module(f"{__name__}.{name}")
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return list(__all__)
