"""Files of earlier versions: what is gone is ignored, and a warning names it where it mattered."""

from __future__ import annotations

import warnings

import pytest

import feaslearn as fl
from feaslearn.exceptions import FeaslearnWarning
from net.cases import MODELS
from net.test_model_files import skip_if_newer

#: Files that hold what is gone, and what the one warning names.
NAMED = {
    "known_contain": "Known(inequalities='contain')",
    "patience": "GradientDescent(patience=3)",
    "generator": "random",
    "facet_options": "FacetLearning(n_starts=1)",
}


@pytest.mark.parametrize("name", sorted(path.stem for path in MODELS.glob("*.json")))
def test_what_mattered_is_named_once(name: str) -> None:
    skip_if_newer(name)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FeaslearnWarning)
        fl.load(MODELS / f"{name}.json")
    texts = [str(each.message) for each in caught]
    assert len(texts) == (name in NAMED)
    assert NAMED.get(name, "") in "".join(texts)
