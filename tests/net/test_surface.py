"""The public surface: names, parameters and their defaults, commands, errors."""

from __future__ import annotations

import pytest

from net import measure
from net.commands import COMMANDS, run_all
from net.errors import ERRORS

RECORDED = measure.recorded()

#: Names, parameters and options that were dropped on purpose; the CHANGELOG lists them.
GONE: set[str] = {
    "Known.inequalities",
    *(f"trainers.FacetLearning.{name}" for name in ("n_starts", "held_out", "support", "tries")),
    "bench",
    "plots.SizeDisplay",
    "regressor.Sandwich",
    "trainers.Checkpoint",
    *(
        f"trainers.{name}.{parameter}"
        for name in ("AdaptiveSmoothing", "Annealing", "GradientDescent")
        for parameter in ("patience", "validation")
    ),
}
#: Defaults that were changed on purpose.
#: (None still means vertices of a region; "auto" is "affine" and not robust for terms that are
#: given.)
CHANGED = {
    "Facets.max_facets": "None",
    "Minkowski.scale": "'auto'",
    "trainers.Convex.robust": "'auto'",
    "export.to_csv.contents": "None",
}

#: Attributes and methods that were: of bands that are gone, of replay and of the content of chunks
#: in checkpoints, of planning of time, of the order of samples.
GONE_MEMBERS = {
    "sandwich",
    "state_of",
    "from_state",
    "from_row",
    "identity",
    "affordable",
    "names_rows",
}


def test_names_and_parameters_stay() -> None:
    now = measure.api()
    for name, parameters in RECORDED["api"].items():
        if name in GONE:
            assert name not in now, f"{name} is back"
            continue
        for parameter, recorded in (parameters or {}).items():
            if f"{name}.{parameter}" in GONE:
                assert parameter not in (now[name] or {}), f"{name}.{parameter} is back"
            else:
                default = CHANGED.get(f"{name}.{parameter}", recorded)
                assert (now[name] or {}).get(parameter) == default, f"{name}({parameter}=)"


def test_attributes_and_methods_stay() -> None:
    now = measure.members()
    for name, told in RECORDED["members"].items():
        if name in GONE:
            continue
        missing = set(told.split()) - set(now[name].split()) - GONE_MEMBERS
        assert not missing, name


def test_options_of_commands_stay() -> None:
    now = measure.options()
    for name, options in RECORDED["options"].items():
        if name in GONE:
            assert name not in now
            continue
        gone = {each for each in options if f"{name} {each}" in GONE}
        assert set(options) - gone <= set(now[name]), name


def test_exit_codes_and_keys_stay() -> None:
    now = run_all(COMMANDS)
    for name, told in RECORDED["commands"].items():
        assert now[name]["code"] == told["code"], name
        assert _holds(now[name].get("keys"), told.get("keys")), name


def _holds(now: object, before: object) -> bool:
    """Say whether all keys of before are there now."""
    if not isinstance(before, dict):
        return True
    return isinstance(now, dict) and all(
        name in now and _holds(now[name], part) for name, part in before.items()
    )


@pytest.mark.parametrize("name", ERRORS)
def test_errors_say_as_much(name: str) -> None:
    """The class, the number of problems, the names and the numbers; not the sentence."""
    told, now = RECORDED["errors"][name], measure.error(ERRORS[name])
    assert (now["class"], now["problems"]) == (told["class"], told["problems"])
    missing = set(told["tokens"]) - set(now["tokens"])
    assert not {each for each in missing if f"{name}: {each}" not in GONE}
