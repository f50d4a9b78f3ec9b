"""The page in a real browser: it complains of nothing, and names stay names."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import feaslearn as fl
from feaslearn.report import write_report
from registry import fit_rows
from report.conftest import Browser, learned

HOSTILE = "<script>alert(1)</script>"


def checked(browser: Browser, path: Path) -> None:
    """Check that a page asked for nothing and complained of nothing."""
    assert browser.requests == [path.resolve().as_uri()]
    assert browser.complaints == []


@pytest.fixture(scope="module")
def page(
    model: fl.RegionRegressor, power: fl.Decisions, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_report(model, power, path, units={"plant_1": "MW"}, refit=False)
    return path


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, False), (390, True)])
def test_it_fits_the_screen(page: Path, width: int, dark: bool, browser: Browser) -> None:
    browser.open(page, width, dark)
    assert browser.run("document.documentElement.scrollWidth") == width
    size = "parseFloat(getComputedStyle(document.querySelector('.side .tick')).fontSize)"
    assert browser.run(size) >= 11
    assert browser.run("document.querySelector('.side svg').getBoundingClientRect().height") > 150
    color = browser.run("getComputedStyle(document.body).backgroundColor")
    assert (color == "rgb(18, 22, 29)") == dark
    checked(browser, page)


def test_hostile_names_are_inert(power: fl.Decisions, browser: Browser, tmp_path: Path) -> None:
    names = [HOSTILE, "</script><img src=x onerror=alert(2)>", "'\"><svg onload=alert(3)>", "&lt;"]
    signals = pd.DataFrame(power.signals.copy(), columns=[*names, *"abcd"])
    decisions = pd.DataFrame(
        power.decisions.copy(), columns=["</title>" + HOSTILE, "{{ 7 * 7 }}", "\u2028${x}"]
    )
    model = fit_rows(signals, decisions, fl.Facets(2), cost=names[:3])
    data = fl.Decisions.from_arrays(signals, decisions, cost=names[:3])
    path = tmp_path / "hostile.html"
    write_report(
        model,
        data,
        path,
        title=HOSTILE,
        source=HOSTILE,
        units={names[3]: HOSTILE},
        place=lambda row: f"{HOSTILE} {row}",
        refit=False,
    )
    browser.open(path)
    checked(browser, path)
    assert browser.run("document.querySelectorAll('script').length") == 0
    assert browser.run("document.querySelectorAll('img, svg[onload]').length") == 0
    assert browser.run("document.title") == HOSTILE
    assert "{{ 7 * 7 }}" in browser.run("document.body.textContent")


def test_a_policy_stops_other_scripts(page: Path, browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "changed.html"
    text = page.read_text("utf-8").replace("</main>", "<script>window.bad = 1</script></main>")
    path.write_text(text, "utf-8")
    browser.open(path)
    assert browser.run("window.bad === undefined")
    assert any("Content Security Policy" in text for text in browser.complaints)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of a plant of eight hours: balance, ramps and bounds, more than a screen."""
    data = fl.datasets.make_flexible_plant(240, random_state=0, hours=8)
    path = tmp_path_factory.mktemp("many") / "report.html"
    write_report(learned(data[:180]), data[180:], path, train=data[:180], units="MW")
    return path


CELLS = "[...document.querySelectorAll('#constraints tbody tr:not(.rest) td:last-child')]"


def test_the_first_screen_at_1280(many: Path, browser: Browser) -> None:
    browser.open(many, 1280)
    # The whole table is there, with binds, worth and status, and nothing scrolls sideways.
    box = "document.getElementById('{}').{}"
    assert browser.run(box.format("constraints", "scrollWidth")) <= browser.run(
        box.format("constraints", "parentElement.clientWidth")
    )
    ends = browser.run(f"{CELLS}.map((cell) => cell.getBoundingClientRect().right)")
    assert len(ends) == 12
    assert max(ends) < 1280
    words = browser.run(f"{CELLS}.map((cell) => cell.textContent)")
    assert set(words) <= {"identified", "seen"}
    assert browser.run("document.querySelector('.side svg').getBoundingClientRect().right") < 1280
    checked(browser, many)
