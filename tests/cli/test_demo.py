"""The demo's story: what it recovers, and how it reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from feaslearn.cli import demo


@pytest.fixture(scope="module")
def story() -> demo.Story:
    return demo.tell()


def test_the_limits_of_the_hidden_grid_are_recovered(story: demo.Story) -> None:
    texts = {limit.text for limit in story.limits}
    capacity = 2 * demo.LINE_CAPACITY
    assert {
        f"plant_5 >= demand_4 + demand_5 - {capacity:g}",
        f"plant_3 <= demand_3 + {capacity:g}",
        f"plant_1 <= demand_1 + {capacity:g}",
        "plant_1 <= 3.5",
        "plant_3 <= 3.5",
        "plant_5 >= 0",
    } <= texts
    for limit, truth in zip(story.limits, story.truths, strict=True):
        assert truth == demo.RECOVERED or limit.status == "not seen", limit.text
    (balance,) = story.model.facets_.equalities
    assert balance.startswith("plant_1 + plant_3 + plant_5 = demand_1 + demand_2")


def test_the_model_is_ahead_and_marks_what_it_does_not_know(story: demo.Story) -> None:
    (_, ours, error), *others = story.scores
    assert ours > 0.999
    assert error < 1e-3
    assert all(r2 < ours - 0.05 for _, r2, _ in others)
    doubled, tenth = story.what_ifs
    assert doubled.after == pytest.approx(doubled.truth, abs=0.02)
    assert tenth.trust.unseen.mean() > 0.9


def test_it_fits_one_screen(story: demo.Story) -> None:
    lines = demo.lines_of(story, Path("demo_report.html"))
    assert len(lines) <= 32
    assert max(map(len, lines)) <= 80
    assert any("the same" in line for line in lines)


def test_for_scripts(story: demo.Story, command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "tell", lambda: story)
    run = command("demo", "--json")
    facts = json.loads(run.out)
    assert facts["report"] == "demo_report.html"
    first, *others = facts["models"]
    assert first["model"] == "learned limits"
    assert first["r2"] > max(other["r2"] for other in others)
    assert {limit["true"] for limit in facts["limits"] if limit["status"] != "not seen"} == {True}
    page = Path("demo_report.html").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "plant_1 + plant_3 + plant_5 = demand_1" in page
    assert "fitted to the same 500 rows and measured on the 100 other rows" in page
