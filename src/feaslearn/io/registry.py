"""Registry of the classes that model files may name: nothing else is made from a file."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from functools import cache
from types import MappingProxyType, ModuleType
from typing import Any, TypeAlias, TypeGuard

from sklearn.base import BaseEstimator
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, StandardScaler

from feaslearn import hypotheses, losses, sets, trainers
from feaslearn.costs import AffineCost
from feaslearn.exceptions import UnsupportedError
from feaslearn.features import FeatureMap
from feaslearn.inference.conformal import Conformal
from feaslearn.inference.coverage import Coverage, RowCoverage
from feaslearn.known import Known
from feaslearn.regressor import FacetTable, LearnedFacet
from feaslearn.regressor.outputs import Outputs
from feaslearn.regressor.reader import Reader
from feaslearn.results import TrainingResult
from feaslearn.solvers.conic_form import Cone

Registry: TypeAlias = Mapping[str, type]

#: The public classes of these are found, so that a new set or trainer needs no entry here.
MODULES = (hypotheses, losses, sets, trainers)
#: Parts of a fitted model, or of a parameter, that are public nowhere.
PARTS: tuple[type, ...] = (
    AffineCost,
    Cone,
    Conformal,
    FacetTable,
    FeatureMap,
    Known,
    LearnedFacet,
    Outputs,
    Reader,
    RowCoverage,
    Coverage,
    TrainingResult,
)
#: scikit-learn's transformers whose fitted state is known here.
TRANSFORMERS: tuple[type, ...] = (PolynomialFeatures, SplineTransformer, StandardScaler)


@cache
def own_classes() -> Registry:
    """Return the classes of feaslearn that a file may name, by that name."""
    found = [each for module in MODULES for each in _public(module) if _is_description(each)]
    return MappingProxyType({each.__name__: each for each in (*found, *PARTS, *TRANSFORMERS)})


def _public(module: ModuleType) -> Iterator[object]:
    """Yield the public names of a module and of its public modules."""
    for name in module.__all__:
        thing = getattr(module, name)
        if isinstance(thing, ModuleType):
            yield from _public(thing)
        else:
            yield thing


def with_classes(classes: Iterable[type]) -> Registry:
    """Return the registry with classes of the user; refuse those that are more than parameters."""
    registry = dict(own_classes())
    for each in classes:
        if not _is_description(each):
            raise UnsupportedError(
                f"classes: {each!r} is not a class that is made of its parameters alone, such as "
                "a PrimitiveSet with get_params"
            )
        if registry.get(each.__name__, each) is not each:
            raise UnsupportedError(f"classes: the name {each.__name__} is taken; rename the class")
        registry[each.__name__] = each
    return registry


def parameter_names(kind: type) -> dict[str, Any]:
    """Return the parameters of a class with their defaults (``inspect.Parameter.empty`` if none).

    An instance is described by the attributes of these names, and made again from them.
    """
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {
        name: parameter.default
        for name, parameter in inspect.signature(kind).parameters.items()
        if parameter.kind in named
    }


def _is_description(thing: object) -> TypeGuard[type]:
    """Whether something is a class whose instances are their parameters and no more."""
    if not isinstance(thing, type) or inspect.isabstract(thing):
        return False
    is_record = is_dataclass(thing) or (issubclass(thing, tuple) and hasattr(thing, "_fields"))
    return issubclass(thing, BaseEstimator) or is_record
