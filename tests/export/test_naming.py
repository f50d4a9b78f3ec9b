"""Names of decisions become names that every tool takes, and no two become one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

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


WORDS = [*SECTIONS, *(word.lower() for word in SECTIONS if word[0] in "NRCM"), *NUMBERS]


# In several orders: what a word does depends on what stands before it.
@pytest.mark.parametrize("write", [fl.export.to_mps, fl.export.to_lp])
@pytest.mark.parametrize("names", [AWKWARD, *([*WORDS[k:], "b", *WORDS[:k], "c"] for k in (0, 7))])
def test_awkward_names_come_back_from_a_file(names: list[str], write: Any, tmp_path: Path) -> None:
    n, path = len(names), tmp_path / "region.file"
    region = fl.Region(AffineImage(fl.Box(n), np.eye(n), np.arange(n, dtype=float)), names)
    cost = np.where(np.arange(n) % 2, 1.0, -2.0)
    found = write(region, path, cost)
    path = path.rename(path.with_suffix(".mps" if write is fl.export.to_mps else ".lp"))
    assert list(found) == names
    assert all(found[each].startswith("x_") for each in set(names) & set(WORDS) - set(AWKWARD))
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    assert solver.readModel(str(path)) == highspy.HighsStatus.kOk
    solver.run()
    values = dict(zip(solver.getLp().col_names_, solver.getSolution().col_value, strict=True))
    expected = np.arange(n) - np.sign(cost)
    assert [values[found[name]] for name in names] == pytest.approx(expected)
    # The file itself says which names changed, in comments that stay on their lines.
    head = [line for line in path.read_text().splitlines() if line[0] in "*\\"]
    told = [line for line in head if " is '" in line]
    assert len(told) == sum(old != new for old, new in found.items())
    assert names is not AWKWARD or r"a_b is 'a\nb'" in "".join(told)


def test_the_same_name_twice(tmp_path: Path) -> None:
    region = fl.Region(AffineImage(fl.Box(2), np.eye(2), np.zeros(2)), ["gas", "gas"])
    with pytest.raises(DataError, match="several decisions are called 'gas'"):
        fl.export.to_mps(region, tmp_path / "region.mps")
    fl.export.to_csv(region, tmp_path / "corners.csv")
    assert (tmp_path / "corners.csv").read_text().startswith("gas,gas (2)\n")
    with pytest.raises(DataError, match="several decisions are called 'gas'"):
        fl.export.to_cvxpy(region)
