"""How kernels are compiled and cached."""

from __future__ import annotations

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
from feaslearn.solvers.jit import kernel

IMAGES = Path("sets") / "image_kernels.py"


@pytest.fixture
def copied_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path in jit.PACKAGE.rglob("*kernels.py"):
        copy = tmp_path / path.relative_to(jit.PACKAGE)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    monkeypatch.setattr(jit, "PACKAGE", tmp_path)
    return tmp_path


def fresh_stamp(path: Path) -> str:
    jit.sources_of.cache_clear()
    return jit.stamp_of.__wrapped__(path)


def change(path: Path) -> None:
    path.write_text(path.read_text("utf-8") + "\n# changed\n", "utf-8")


def test_stamp_changes_with_every_imported_source(copied_sources: Path) -> None:
    images = copied_sources / IMAGES
    stamps, sources = {fresh_stamp(images)}, jit.sources_of(images)
    names = {"image_kernels.py", "simplex_kernels.py", "oracle_kernels.py"}
    assert names <= {path.name for path in sources}
    for path in sources:
        change(path)
        stamps.add(fresh_stamp(images))
    assert len(stamps) == len(sources) + 1


def test_stamp_changes_with_the_tolerances_that_are_named(
    copied_sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = copied_sources / IMAGES
    before = fresh_stamp(images)
    monkeypatch.setattr(tolerances, "GAIN_TOL", 2e-9)
    assert fresh_stamp(images) == before
    monkeypatch.setattr(tolerances, "SUM_ROUNDING", 2e-9)
    assert fresh_stamp(images) != before


def double(x: float) -> float:
    return 2.0 * x


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


def run(script: str) -> str:
    source = str(Path(jit.__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", script],
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.soak
def test_what_is_compiled_is_said_and_the_folder_of_numba_is_used(tmp_path: Path) -> None:
    code = (
        "import logging; logging.basicConfig(level=logging.INFO)\n"
        "import numpy as np\n"
        "from feaslearn.solvers.small_lp import Limits, solve_programs\n"
        "limits = Limits(np.ones((1, 1)), np.zeros((1, 2)), np.ones((1, 2)))\n"
        "found = solve_programs(np.ones((1, 2)), limits, np.array([[1.0, 2.0]]), np.zeros(1))\n"
        "assert found.decisions.tolist() == [[1.0, 0.0]]\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    told = [
        subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stderr
        for _ in range(2)
    ]
    assert "compiling solvers.small_lp_kernels.solve_rows, once for each" in told[0]
    assert "compiling" not in told[1]
    assert any((tmp_path / "feaslearn").iterdir())
