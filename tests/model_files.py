"""Models of every kind that files hold; their files taken apart; are two values the same?"""

from __future__ import annotations

import io
import json
import struct
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import feaslearn as fl
from feaslearn.exceptions import FeaslearnError, FeaslearnWarning
from feaslearn.hypotheses import Hypothesis
from registry import Array

N_SIGNALS = 3

TRIANGLE = fl.Polytope([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [0.0, 0.0, -1.0])
SETS = {
    "box": fl.Box(2, [-1.0, 0.0], 3),
    "hypersimplex": fl.Hypersimplex(3, 1),
    "l1-ball": fl.L1Ball(2),
    "l2-ball": fl.L2Ball(2),
    "polytope": TRIANGLE,
    "simplex": fl.Simplex(4),
}
FEW_STEPS = fl.trainers.Annealing(max_iter=2, n_starts=1, ridge=0.1)
#: Fitted at once, for what does not depend on the hypothesis.
POINT = fl.Affine(fl.Simplex(1))
#: Hypotheses of two decisions.
HYPOTHESES: dict[str, Hypothesis] = {
    **{f"affine-{name}": fl.Affine(primitive) for name, primitive in SETS.items()},
    "linear-policy": POINT,
    "facets": fl.Facets(),
    "few-facets": fl.Facets(4, bounds=([0.0, -9.0], np.array([9.0, 9.0]))),
    "minkowski": fl.Minkowski(),
    "terms": fl.Minkowski([fl.Term(fl.L2Ball(2)), fl.Term(fl.Simplex(2), [1, 0], 2.0)]),
    "matrix": fl.Minkowski([fl.Term(fl.Box(1), matrix=[[1.0], [0.1]])], scale="constant"),
}


@cache
def table(n: int, rows: int = 12) -> tuple[Array, Array]:
    """Return signals and decisions: prices first, then a demand that the decisions share."""
    rng = np.random.default_rng(n)
    signals = np.hstack([rng.normal(size=(rows, n)), rng.uniform(1.0, 2.0, size=(rows, 1))])
    share = 1.0 / (1.0 + np.exp(signals[:, :n]))
    return signals, np.asarray(share * signals[:, n:] / share.sum(axis=1, keepdims=True))


def fit(hypothesis: Hypothesis | None, n: int = 2, **parameters: Any) -> fl.RegionRegressor:
    """Fit a model to the table; the prices are the cost unless another is given."""
    signals, decisions = table(n)
    few = isinstance(hypothesis, fl.Affine) and hypothesis is not POINT
    parameters = {"trainer": FEW_STEPS if few else "auto"} | parameters
    parameters = {"cost": list(range(n)), "random_state": 0} | parameters
    model = fl.RegionRegressor(hypothesis, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeaslearnWarning)
        return model.fit(signals, decisions)


def contents_of(model: fl.RegionRegressor, folder: Path) -> bytes:
    """Return the file of a model."""
    fl.save(model, folder / "saved.npz")
    return (folder / "saved.npz").read_bytes()


def use(model: fl.RegionRegressor) -> None:
    """Do what a user does with a model; errors of ours are answers."""
    signals = table(2)[0]
    for ask in (
        lambda: model.predict(signals, return_trust=True),
        lambda: model.predict(signals, costs=-signals[:, :2]),
        lambda: model.region(signals[0]).describe(),
        lambda: str(model.explain(signals[0])),
        lambda: model.predict_interval(signals),
        lambda: str(getattr(model, "facets_", "")),
        lambda: repr(model) + repr(model.result_),
    ):
        with suppress(FeaslearnError), warnings.catch_warnings():
            warnings.simplefilter("ignore", FeaslearnWarning)
            ask()


def unpacked(contents: bytes) -> tuple[Any, dict[str, NDArray[Any]]]:
    """Return the document and the arrays of a model file."""
    with np.load(io.BytesIO(contents)) as archive:
        arrays = {name: archive[name] for name in archive.files}
    return json.loads(arrays.pop("document").tobytes()), arrays


def packed(document: Any, arrays: dict[str, NDArray[Any]]) -> bytes:
    """Return a model file of a document and arrays."""
    buffer, text = io.BytesIO(), json.dumps(document).encode("ascii")
    np.savez(buffer, document=np.frombuffer(text, dtype=np.uint8), **arrays)
    return buffer.getvalue()


def difference(a: Any, b: Any, where: str = "") -> str | None:
    """Return where two values differ first, None if they are the same in everything."""
    if type(a) is not type(b):
        return f"{where}: {type(a).__name__} is not {type(b).__name__}"
    if isinstance(a, np.ndarray):
        if a.dtype == object:
            return None if a.tolist() == b.tolist() else where
        equal = a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        return None if equal and b.flags.writeable else where
    if isinstance(a, float):
        return None if struct.pack("<d", a) == struct.pack("<d", b) else where
    return _parts(a, b, where)


def _parts(a: Any, b: Any, where: str) -> str | None:
    if isinstance(a, list | tuple):
        if len(a) != len(b):
            return f"{where}: {len(a)} and {len(b)} items"
        pairs = [(f"{where}[{j}]", x, y) for j, (x, y) in enumerate(zip(a, b, strict=True))]
    elif isinstance(a, dict):
        if a.keys() != b.keys():
            return f"{where}: {sorted(map(str, a.keys() ^ b.keys()))}"
        pairs = [(f"{where}[{key!r}]", a[key], b[key]) for key in a]
    elif hasattr(a, "__dict__") and not callable(a):
        # What an object keeps of itself: a model leaves its samples out.
        pairs = [(where, a.__getstate__(), b.__getstate__())]
    else:
        return None if a == b else f"{where}: {a!r} is not {b!r}"
    return next((found for w, x, y in pairs if (found := difference(x, y, w)) is not None), None)
