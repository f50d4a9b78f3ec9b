r"""The system of Ren, Mohajerin Esfahani and Georghiou, "Inverse Optimization via Learning Feasible
Regions", ICML 2025, complete and on its own.

A decision maker sees a signal s and picks :math:`x \in \arg\min \{c(s)'x : x \in R(s)\}`; learned
is the region :math:`R_\theta(s) = \{A(s) z + b(s) : z \in Z\}`. Where each part of the paper is:

=================================================  =========================================
Section 2, training problem (3), data              `Problem`, `Data`, `Samples`, `Found`
2.1, suboptimality (5b), its gap J (4)             `Suboptimality` (``losses/loss.py``)
2.1, predictability (5a)                           `Predictability` (``losses/loss.py``)
2.2, true losses (6a), (6b)                        `evaluate`, `KnownRegion` (``evaluation.py``)
Section 3, regions (7a), sets (7b)                 `Affine`, `Scaled`, `Ternary`, `ConicSet`
3.1, Theorem 3.3, programs (10a), (10b)            `bilinear`; at fixed A, b `losses_by_program`
3.1, Algorithm 1, gradient (11)                    `algorithm1`, from `linear_start`
3.2, Algorithm 2                                   `algorithm2`
3.2, its inner problem (12), (26a), (26b)          ``smoothed_program.py``, ``kernels.py``
3.2, its inner problem as printed, b with z        ``printed_smoothing.py``
3.3, convex (13), Proposition 3.7                  `convex` (``scaled.py``)
3.3, binary sets (19), Proposition D.1, dual row   `mixed_integer` (``milp.py``)
3.3, constant ternary map                          `ternary` (``ternary_map.py``)
Section 4, power system (14), Example 3.2 (8)      `datasets`, `TransportNetwork`
4.1, tables of Problem 1                           `evaluate`, `baselines`
4.2, Problem 2, programs (27), (28)                `learn_network` (``network/flow.py``)
=================================================  =========================================

Symbols are those of the paper: signals s, features :math:`\phi(s)` with the constant first, costs
c, decisions x, latent z, latent cost :math:`q = A(s)'c`, multipliers :math:`\lambda`, corrections
:math:`\gamma`, weights of slacks :math:`\epsilon`. Beside each formula stands what is wrong with
the printed one. Of most weight: the dual row of (19) must be an inequality; the slacks of (12) need
the weight 1/N too; the gradient (11) by multipliers is up to 22 % off; a region that depends on the
cost has a vacuous optimum (`Problem.of`); the data of Problem 2 do not identify its network.
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
    from feaslearn.paper.truth import KnownRegion

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
        "truth": "KnownRegion",
    }.items()
    for name in names.split()
}

_MODULES = ("baselines", "datasets")

__all__ = [
    "Affine",
    "Clock",
    "ConicSet",
    "Data",
    "Evaluation",
    "Found",
    "Image",
    "KnownRegion",
    "LearnedNetwork",
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
