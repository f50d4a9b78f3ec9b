"""The demo's models and its table."""

from __future__ import annotations

import math
import re
from io import StringIO

import pytest
from rich.console import Console

from feaslearn.cli import demo


@pytest.fixture(scope="module")
def rows() -> list[demo.Row]:
    return demo.compare()[0]


def test_every_model_is_measured(rows: list[demo.Row]) -> None:
    linear, *learned = rows
    assert math.isnan(linear.losses["predictability"])
    for row in learned:
        assert all(loss >= 0 for loss in row.losses.values()), row
        # The returned decision is one of the optimal ones that predictability may choose from.
        assert row.losses["predictability"] <= row.losses["returned decision"] + 1e-9


def printed(rows: list[demo.Row], width: int) -> list[str]:
    console = Console(file=StringIO(), width=width, record=True)
    console.print(demo.as_table(rows))
    return [line.rstrip() for line in console.export_text().splitlines()]


def test_the_table_lines_up(rows: list[demo.Row]) -> None:
    lines = printed(rows, width=120)
    for head, *numbers in zip(demo.heads(rows), *(row.cells() for row in rows), strict=True):
        pattern = r"\s+".join(map(re.escape, [head, *numbers]))
        assert any(re.fullmatch(rf"\s*{pattern}", line) for line in lines), head
    assert len({len(line) for line in lines if re.search(r"[.]\d+$", line)}) == 1


@pytest.mark.parametrize("width", [50, 80])
def test_nothing_is_cut_on_a_narrow_terminal(rows: list[demo.Row], width: int) -> None:
    lines = printed(rows, width)
    assert max(map(len, lines)) <= width
    assert "…" not in "".join(lines)


def test_a_loss_that_is_not_defined_is_a_dash() -> None:
    assert demo.Row("m", {"loss": float("nan")}, 0.5).cells() == ["m", "–", "0.50"]
