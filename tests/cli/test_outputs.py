"""What a command writes never replaces what it reads, nor what is open already."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

COLUMNS = ("--signals", "cost_*,demand_*", "--decisions", "plant_*", "--cost", "cost_*")
FIT = ("fit", "power.csv", *COLUMNS, "--hypothesis", "scaled:simplex", "--no-check")

EXPORT = ("export", "power.json", "--data", "unseen.csv")


@pytest.fixture
def files(example: Path, command: Any) -> dict[str, bytes]:
    """Copy a table, its model and a link to each into the folder; return what all files hold."""
    for name in ("power.csv", "unseen.csv", "power.json"):
        shutil.copy(example / name, name)
        Path(f"link-{name}").symlink_to(name)
    return contents()


def contents() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path.cwd().iterdir() if path.is_file()}


USES = {
    "predict": ("predict", "power.json", "power.csv", "-o", "power.csv"),
    "predict-by-link": ("predict", "power.json", "link-power.csv", "-o", "./power.csv"),
    "fit": (*FIT, "-o", "power.csv"),
    "fit-checkpoint": (*FIT, "--checkpoint", "power.csv", "-o", "m.json"),
    "export-model": ("export", "power.json", "--data", "power.csv", "-o", "power.json"),
    "report-model": ("report", "power.json", "power.csv", "-o", "link-power.json"),
    "report-train": (
        *("report", "power.json", "unseen.csv", "--train", "power.csv", "-o", "power.csv"),
    ),
}


@pytest.mark.parametrize("name", USES)
def test_inputs_are_not_replaced(name: str, files: dict[str, bytes], command: Any) -> None:
    run = command(*USES[name])
    assert run.code == 2
    assert "is a file that this command reads; give another name" in run.err
    assert run.err.count("\n") == 1
    assert contents() == files


def test_parts_of_a_folder_are_not_replaced(files: Any, command: Any) -> None:
    Path("data").mkdir()
    for name in ("power", "unseen"):
        pd.read_csv(f"{name}.csv").to_parquet(f"data/{name}.parquet")
    run = command("fit", "data", *FIT[2:], "-o", "data/unseen.parquet")
    assert run.code == 2
    assert "is a file that this command reads" in run.err
    assert len(pd.read_parquet("data/unseen.parquet")) == 7
    assert command("fit", "data/*.parquet", *FIT[2:], "-o", "data/power.json").code == 0


@pytest.mark.parametrize("checkpoint", ["./m.json", "link.json"])
def test_a_checkpoint_is_not_the_model(checkpoint: str, files: Any, command: Any) -> None:
    Path("link.json").symlink_to("m.json")
    run = command(*FIT, "--checkpoint", checkpoint, "-o", "m.json")
    assert run.code == 2
    assert "--output and --checkpoint are one file, m.json" in run.err
    assert not Path("m.json").exists()


@pytest.mark.parametrize("arguments", [("predict", "power.json", "unseen.csv"), EXPORT])
def test_a_dash_prints(arguments: tuple[str, ...], files: Any, command: Any) -> None:
    run = command(*arguments, "-o", "-")
    assert (run.code, run.out) == (0, command(*arguments).out)
    assert not Path("-").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        (*FIT, "-o", "-"),
        (*FIT, "-o", "m.json", "--checkpoint", "-"),
        ("demo", "-o", "-"),
    ],
)
def test_what_cannot_be_printed(
    arguments: tuple[str, ...], files: dict[str, bytes], command: Any
) -> None:
    run = command(*arguments)
    assert run.code == 2
    assert f"{arguments[-2].replace('-o', '--output')}: this command writes a file" in run.err
    assert contents() == files
