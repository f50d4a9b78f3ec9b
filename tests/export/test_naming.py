"""Names of decisions become names that every tool takes, and no two become one."""

from __future__ import annotations

import re
from pathlib import Path

import highspy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import feaslearn as fl
from feaslearn.exceptions import DataError
from feaslearn.export.naming import safe_names
from feaslearn.sets import AffineImage

AWKWARD = ["e", "e1", "E12x", "free", "x y", "x_y", "X-Y", "", "ü", "日本", "3", "x_3", "z0", "zz"]
AWKWARD += ["a" * 300, "a" * 299, "st", "<script>", "a\nb", "c,d", "min", "inf", "rhs", "energy"]
#: Names that begin a section of an MPS file, or read as a number in the LP format.
SECTIONS = ["NAME", "ROWS", "COLUMNS", "RHS", "BOUNDS", "RANGES", "OBJSENSE", "MAX", "MIN", "SOS"]
SECTIONS += ["QSECTION", "QMATRIX", "QUADOBJ", "QCMATRIX", "CSECTION", "DELAYEDROWS", "MODELCUTS"]
SECTIONS += ["USERCUTS", "INDICATORS", "SETS", "GENCONS", "PWLOBJ", "PWLNAM", "PWLCON", "ENDATA"]
SECTIONS += ["LAZYCONS", "DELETEROWS", "MARKER", "OBJNAME", "REFROW", "SOS1", "SOS2"]
NUMBERS = ["inflow", "infeed", "info", "inf1", "INFLOW", "Infinity", "nano", "NaN_1", "nan", "e1"]


@settings(max_examples=50)
@given(st.lists(st.text("aeEzZ1_ -é日\n", max_size=6), unique=True, max_size=8))
def test_names_are_safe_distinct_and_stable(names: list[str]) -> None:
    found = safe_names(names)
    assert list(found) == names
    assert len({name.casefold() for name in found.values()}) == len(names)
    for name in found.values():
        assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,254}", name)
        assert re.match(r"[eE](\d|$)", name) is None
    assert safe_names(list(found.values())) == {name: name for name in found.values()}


@pytest.mark.parametrize("form", ["mps", "lp"])
@pytest.mark.parametrize("shift", [0, 1, 7])
def test_words_of_a_file_as_names(shift: int, form: str, tmp_path: Path) -> None:
    # In several orders: what a word does depends on what stands before it.
    words = [*SECTIONS, *(word.lower() for word in SECTIONS if word[0] in "NRCM"), *NUMBERS]
    names = [*words[shift:], "b", *words[:shift], "c"]
    n = len(names)
    region = fl.Region(AffineImage(fl.Box(n), np.eye(n), np.arange(n, dtype=float)), names)
    path = tmp_path / f"region.{form}"
    cost = np.where(np.arange(n) % 2, 1.0, -2.0)
    found = (fl.export.to_mps if form == "mps" else fl.export.to_lp)(region, path, cost)
    assert all(found[each].startswith("x_") for each in words)
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    assert solver.readModel(str(path)) == highspy.HighsStatus.kOk
    solver.run()
    assert solver.getObjectiveValue() == pytest.approx(cost @ region.minimize(cost))
    assert set(found.values()) <= set(solver.getLp().col_names_)


@pytest.mark.parametrize("form", ["mps", "lp"])
def test_awkward_names_come_back_from_a_file(form: str, tmp_path: Path) -> None:
    n = len(AWKWARD)
    region = fl.Region(AffineImage(fl.Box(n), np.eye(n), np.arange(n, dtype=float)), AWKWARD)
    path = tmp_path / f"region.{form}"
    write = fl.export.to_mps if form == "mps" else fl.export.to_lp
    names = write(region, path, np.ones(n))
    assert list(names) == AWKWARD
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.readModel(str(path))
    solver.run()
    values = dict(zip(solver.getLp().col_names_, solver.getSolution().col_value, strict=True))
    assert [values[names[name]] for name in AWKWARD] == pytest.approx(np.arange(n) - 1.0)
    # The file itself says which names changed, in comments that stay on their lines.
    head = [line for line in path.read_text().splitlines() if line[0] in "*\\"]
    told = [line for line in head if " is '" in line]
    assert len(told) == sum(old != new for old, new in names.items())
    assert r"a_b is 'a\nb'" in "".join(told)


def test_the_same_name_twice(tmp_path: Path) -> None:
    region = fl.Region(AffineImage(fl.Box(2), np.eye(2), np.zeros(2)), ["gas", "gas"])
    with pytest.raises(DataError, match="several decisions are called 'gas'"):
        fl.export.to_mps(region, tmp_path / "region.mps")
    fl.export.to_csv(region, tmp_path / "corners.csv")
    assert (tmp_path / "corners.csv").read_text().startswith("gas,gas (2)\n")
    with pytest.raises(DataError, match="several decisions are called 'gas'"):
        fl.export.to_cvxpy(region)
