"""How kernels are compiled and cached."""

from __future__ import annotations

import ast
import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from feaslearn import tolerances
from feaslearn.solvers import jit
from feaslearn.solvers.jit import kernel, sources_hash


@pytest.fixture
def copied_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path in jit.sources():
        copy = tmp_path / path.relative_to(jit.PACKAGE)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    monkeypatch.setattr(jit, "PACKAGE", tmp_path)
    return tmp_path


def fresh_hash() -> str:
    return sources_hash.__wrapped__()


def test_stamp_changes_with_every_source(copied_sources: Path) -> None:
    stamps = {fresh_hash()}
    sources = jit.sources()
    assert {"oracle_kernels.py", "predict.py"} <= {path.name for path in sources}
    for path in sources:
        path.write_text(path.read_text("utf-8") + "\n# changed\n", "utf-8")
        stamps.add(fresh_hash())
    assert len(stamps) == len(sources) + 1
    (copied_sources / "trainers" / "deep").mkdir(parents=True)
    (copied_sources / "trainers" / "deep" / "more_kernels.py").write_text("", "utf-8")
    assert fresh_hash() not in stamps


def test_stamp_is_that_of_the_content_alone(copied_sources: Path) -> None:
    before = fresh_hash()
    for path in jit.sources():
        os.utime(path, (0, 0))
    (copied_sources / "solvers" / "highs.py").write_text("not a source", "utf-8")
    assert fresh_hash() == before


def test_renaming_a_source_changes_the_stamp(copied_sources: Path) -> None:
    before = fresh_hash()
    (copied_sources / "kernels" / "predict.py").rename(copied_sources / "kernels" / "guess.py")
    assert fresh_hash() != before


def test_stamp_changes_with_a_tolerance(
    copied_sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = fresh_hash()
    monkeypatch.setattr(tolerances, "INSIDE_TOL", 2e-9)
    assert fresh_hash() != before


def double(x: float) -> float:
    return 2.0 * x


def test_kernels_are_cached_in_the_folder(copied_sources: Path) -> None:
    assert kernel(double)(1.5) == 3.0
    assert list((copied_sources / "solvers" / "__pycache__").glob("*double*.nbi"))


def test_an_index_of_an_older_version_is_not_in_the_way(copied_sources: Path) -> None:
    """A type that no longer exists cannot be unpickled, whatever the stamp says."""
    assert kernel(double)(2.0) == 4.0
    (index,) = (copied_sources / "solvers" / "__pycache__").glob("*double*.nbi")
    version = pickle.dumps(numba.__version__)
    index.write_bytes(version + b"cfeaslearn.solvers.jit\nGone\n.")
    assert kernel(double)(3.0) == 6.0
    assert b"Gone" not in index.read_bytes()


def test_a_folder_that_cannot_be_written_gives_no_cache_but_works(
    copied_sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: object) -> None:
        raise PermissionError("read-only")

    monkeypatch.setattr(jit._FolderLocator, "ensure_cache_path", refuse)
    assert kernel(double)(2.0) == 4.0
    assert not (copied_sources / "solvers" / "__pycache__").exists()


ONE_CALL = """
import numpy as np
from feaslearn import Affine, Box, L2Ball, Product, Simplex
from feaslearn.sets import AffineImage
rng = np.random.default_rng(0)
theta, features, costs = rng.normal(size=30), rng.normal(size=(4, 2)), rng.normal(size=(4, 3))
print(Affine(Simplex(5)).predict(theta, features, costs).ravel().round(9).tolist())
image = AffineImage(Product([Simplex(3), Box(2)]), rng.normal(size=(3, 5)), rng.normal(size=3))
print([round(image.distance(x), 9) for x in 3.0 * rng.normal(size=(4, 3))])
ball = AffineImage(L2Ball(2), rng.normal(size=(3, 2)), rng.normal(size=3))
print([round(ball.distance(x), 9) for x in 3.0 * rng.normal(size=(4, 3))])
"""


def run(script: str = ONE_CALL, **environment: str) -> str:
    source = str(Path(jit.__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", script],
        env={**os.environ, "PYTHONPATH": source, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_plain_python_gives_the_same_answers() -> None:
    compiled, plain = run(), run(NUMBA_DISABLE_JIT="1")
    assert compiled.count("\n") == 3
    for ours, other in zip(compiled.splitlines(), plain.splitlines(), strict=True):
        assert json.loads(ours) == pytest.approx(json.loads(other), abs=1e-8)


ONE_FIT = """
import feaslearn as fl
from numba.core.dispatcher import Dispatcher
data = fl.datasets.make_power5(60, random_state=0)
model = fl.RegionRegressor(fl.Affine(fl.Simplex(3)), cost=data.cost, random_state=0)
model.fit(data.signals, data.decisions).predict(data.signals)
import gc
ours = [d for d in gc.get_objects() if isinstance(d, Dispatcher)]
homes = ("feaslearn.kernels", "feaslearn.solvers")
ours = [d for d in ours if d.py_func.__module__.startswith(homes)]
print(sorted((d.py_func.__name__, len(d.signatures)) for d in ours if d.signatures))
"""


def test_a_fit_with_a_simplex_loads_two_small_kernels() -> None:
    """Whoever begins with a simplex waits for no other kernel to compile, and for none twice."""
    loaded = dict(ast.literal_eval(run(ONE_FIT)))
    entries = {"annealed_columns", "_predict_columns"}
    assert entries <= set(loaded) <= entries | {"norm_and_slope", "entry_sizes", "_add_up"}
    assert set(loaded.values()) == {1}
