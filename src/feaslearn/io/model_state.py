"""What a model file says about a model: its parameters, and what it has learned."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError as SklearnNotFittedError
from sklearn.utils.validation import check_is_fitted

from feaslearn.costs import CostSpecification, ResolvedCost, resolve_cost
from feaslearn.exceptions import DataError, ModelFileError, Problems, UnsupportedError
from feaslearn.io.decoder import Decoder
from feaslearn.io.encoder import Encoder, is_left_out
from feaslearn.io.state_checks import check_count, check_names, check_state
from feaslearn.known import Known, ResolvedKnown, resolve_known
from feaslearn.regressor import RegionRegressor

#: What `fit` leaves in a model. A model with more than this is refused: it would be lost.
STATE = (
    "n_features_in_",
    "feature_names_in_",
    "hypothesis_",
    "features_",
    "cost_",
    "known_",
    "theta_",
    "result_",
    "_reader",
    "_facets",
    "_seen",
    "stream_",
)
#: What is not stored as such: it is made again from what was given.
READ = ("cost_", "known_")
#: Where in the fitted state the parts stand that can be left out and given again.
PLACES = {
    "cost": ("cost_", "specification"),
    "features": ("features_", "parameters", "transformer"),
    "known": ("known_",),
}
#: Settings of scikit-learn for pipelines around a model, and the samples, which are the user's.
NOT_STATE = ("_metadata_request", "_sklearn_output_config", "_samples")


def encode_model(model: RegionRegressor, encoder: Encoder) -> dict[str, Any]:
    """Return a fitted model as what JSON can hold; raise one error for all that has no place."""
    parameters = model.get_params(deep=False)
    nodes = {name: encoder.encode(value, name) for name, value in parameters.items()}
    nodes["known"] = _all_or_nothing(nodes["known"])
    for name in sorted(vars(model).keys() - parameters.keys() - {*STATE, *NOT_STATE}):
        encoder.problems.add(f"{name} is an attribute that model files do not hold; delete it")
    encoder.problems.raise_if_any(UnsupportedError, "save")
    fitted = {
        name: encoder.encode(getattr(model, name, None), name) for name in STATE if name not in READ
    }
    known = model.known_
    specification = known and encoder.encode(known.specification, "known")
    fitted["known_"] = _all_or_nothing(specification)
    cost = model.cost_
    fitted["cost_"] = cost and {
        "columns": list(cost.columns),
        "specification": encoder.encode(cost.specification, "cost"),
    }
    encoder.problems.raise_if_any(UnsupportedError, "save")
    return {"class": type(model).__name__, "parameters": nodes, "fitted": fitted}


def decode_model(
    tree: Any,
    decoder: Decoder,
    cost: CostSpecification | None,
    features: Any,
    known: Known | None,
) -> RegionRegressor:
    """Return the model that a tree stands for, with the parts that are given again."""
    nodes, fitted = _parts(tree)
    parameters = decoder.parameters(RegionRegressor, nodes, "")
    for name, part in (("cost", cost), ("features", features), ("known", known)):
        if _is_given(name, nodes.get(name), _place(name, fitted), part):
            parameters[name] = part
    state = {name: decoder.decode(fitted[name], name) for name in STATE if name not in READ}
    transformer_is_given = is_left_out(_place("features", fitted))
    if transformer_is_given:
        state["features_"] = _with_transformer(state["features_"], features)
    check_state(state, transformer_is_given)
    state["cost_"] = _decode_cost(fitted["cost_"], decoder, cost, state)
    state["known_"] = _decode_known(fitted["known_"], decoder, known, state)
    model = RegionRegressor(**parameters)
    names = state.pop("feature_names_in_")
    if names is not None:
        state["feature_names_in_"] = np.array(names, dtype=object)
    for name, value in state.items():
        setattr(model, name, value)
    return model


def _parts(tree: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    if not isinstance(tree, dict) or tree.keys() != {"class", "parameters", "fitted"}:
        raise ModelFileError("the model has no class, no parameters or no fitted state")
    if tree["class"] != RegionRegressor.__name__:
        raise ModelFileError(f"a {tree['class']!r} is not a model that files hold")
    nodes, fitted = tree["parameters"], tree["fitted"]
    if not isinstance(nodes, dict) or not isinstance(fitted, dict):
        raise ModelFileError("parameters and fitted state are not objects")
    # Files of before there were known constraints, and of before models went on learning.
    fitted = {"known_": None, "stream_": None, **fitted}
    if fitted.keys() != set(STATE):
        odd = sorted(fitted.keys() ^ set(STATE))
        raise ModelFileError(f"the fitted state lacks or should not have {odd}")
    return nodes, fitted


def _place(name: str, fitted: dict[str, Any]) -> Any:
    """Return the node of the fitted state in which a part that is given again stands."""
    node: Any = fitted
    for key in PLACES[name]:
        node = node.get(key) if isinstance(node, dict) else None
    return node


def _is_given(name: str, node: Any, place: Any, part: Any) -> bool:
    """Say whether a part is given; refuse one that is missing, or given although it is there."""
    missing = next((each for each in (node, place) if is_left_out(each)), None)
    if missing is None:
        if part is None:
            return False
        raise DataError(
            f"load: {name} was given, but the file holds it; leave it away, or set it for another "
            f"fit with set_params({name}=...)"
        )
    if part is None:
        raise ModelFileError(
            f"written without {name}, {missing['what']}; give it again: load(path, {name}=...)"
        )
    return True


def _with_transformer(feature_map: Any, transformer: Any) -> Any:
    if not hasattr(transformer, "transform") or isinstance(transformer, type):
        raise DataError(f"load: features={transformer!r} is not a transformer")
    try:
        check_is_fitted(transformer)
    except (SklearnNotFittedError, TypeError):
        raise DataError(
            f"load: {type(transformer).__name__} is not fitted; give the one that the model had, "
            "model.features_.transformer"
        ) from None
    return replace(feature_map, transformer=transformer)


def _all_or_nothing(node: Any) -> Any:
    """Return a node, or that of its first part that was left out: half of it would be wrong."""
    if is_left_out(node):
        return node
    parts = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    missing = (found for part in parts if is_left_out(found := _all_or_nothing(part)))
    return next(missing, node)


def _decode_known(
    node: Any, decoder: Decoder, given: Known | None, state: dict[str, Any]
) -> ResolvedKnown | None:
    if node is None:
        return None
    if not is_left_out(node):
        given = None
    problems = Problems()
    resolved = resolve_known(
        decoder.decode(node, "known_") if given is None else given,
        n_decisions=check_count(state["_reader"].n_decisions, "n_decisions"),
        signal_names=check_names(state["feature_names_in_"], state["n_features_in_"]),
        n_signals=state["n_features_in_"],
        problems=problems,
    )
    problems.raise_if_any(ModelFileError if given is None else DataError, "load")
    return resolved


def _decode_cost(
    node: Any, decoder: Decoder, given: CostSpecification | None, state: dict[str, Any]
) -> ResolvedCost | None:
    if node is None:
        return None
    if not isinstance(node, dict) or node.keys() != {"columns", "specification"}:
        raise ModelFileError("cost_: not a cost")
    if not is_left_out(node["specification"]):
        given = None
    specification = decoder.decode(node["specification"], "cost_") if given is None else given
    problems = Problems()
    resolved = resolve_cost(
        specification,
        n_decisions=check_count(state["_reader"].n_decisions, "n_decisions"),
        signal_names=check_names(state["feature_names_in_"], state["n_features_in_"]),
        n_signals=state["n_features_in_"],
        problems=problems,
    )
    problems.raise_if_any(ModelFileError if given is None else DataError, "load")
    if resolved is None:
        raise AssertionError("no cost although no problem was found")
    if list(resolved.columns) != node["columns"]:
        raise (ModelFileError if given is None else DataError)(
            f"load: the cost reads the signals {list(resolved.columns)}, that of the fitted model "
            f"read {node['columns']}"
        )
    return resolved
