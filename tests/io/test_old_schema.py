"""Files of earlier versions: what is gone is ignored, and a warning names it where it mattered."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.exceptions import FeaslearnWarning
from net.cases import MODELS, table

#: Files that hold what is gone, and what the one warning names.
NAMED = {
    "known_contain": "Known(inequalities='contain')",
    "patience": "GradientDescent(patience=3)",
    "grown_simplices": "GrownMinkowski",
    "grown_segments": "GrownMinkowski",
    "grown_box_scale": "GrownMinkowski",
}


@pytest.mark.parametrize("name", sorted(path.stem for path in MODELS.glob("*.json")))
def test_what_mattered_is_named_once(name: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FeaslearnWarning)
        fl.load(MODELS / f"{name}.json")
    texts = [str(each.message) for each in caught]
    assert len(texts) == (name in NAMED)
    assert NAMED.get(name, "") in "".join(texts)


def test_grown_sums_are_sums_of_what_they_found() -> None:
    with pytest.warns(FeaslearnWarning, match="GrownMinkowski"):
        model = fl.load(MODELS / "grown_simplices.json")
    assert type(model.hypothesis_) is fl.Minkowski
    assert repr(model.hypothesis) == repr(fl.Minkowski("auto", scale="constant"))
    data = table("noisy")
    refitted = fl.RegionRegressor(model.hypothesis_, cost=data.cost, random_state=0)
    refitted.fit(data.signals, data.decisions)
    assert np.isfinite(refitted.predict(data.new)).all()
