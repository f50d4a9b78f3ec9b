"""Columns that predict copies to its output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd


def test_kept_columns_are_numbers_where_the_format_knows_some(example: Path, command: Any) -> None:
    lines = (example / "unseen.csv").read_text().splitlines()
    added = ["day,load,key", *(f"d{i},{'' if i == 2 else i},{2**60 + i}" for i in range(1, 8))]
    Path("days.csv").write_text("\n".join(map(",".join, zip(lines, added, strict=True))))
    asked = ("predict", str(example / "power.json"), "days.csv", "--keep")
    assert command(*asked, "day,load,key", "-o", "out.parquet").code == 0
    found = pd.read_parquet("out.parquet")
    assert [found[name].dtype.kind for name in ("day", "load", "key")] == ["O", "f", "O"]
    assert found["load"][2] == 3.0
    assert np.isnan(found["load"][1])
    assert found["key"][0] == str(2**60 + 1)
    row = json.loads(command(*asked, "day,load,key", "--json").out)["rows"][0]
    assert row[:3] == ["d1", 1.0, str(2**60 + 1)]
    assert command(*asked, "load,key").out.splitlines()[2].startswith(f",{2**60 + 2},")


def test_columns_of_the_output_have_names_of_their_own(example: Path, command: Any) -> None:
    files = ("predict", str(example / "power.json"), str(example / "unseen.csv"))
    run = command(*files, "--keep", "demand_1,plant_1", "-o", "out.parquet")
    assert run.code == 2
    assert "--keep: 'plant_1' is the name of a decision that is predicted" in run.err
    assert not Path("out.parquet").exists()
    found = json.loads(command(*files, "--keep", "*", "--json").out)["columns"]
    assert found[-3:] == ["plant_1", "plant_3", "plant_5"]
    assert len(found) == len(set(found)) == 11
