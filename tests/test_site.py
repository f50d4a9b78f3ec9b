"""The page of benchmarks is made from what was kept, and the check of the site finds faults."""

from __future__ import annotations

import json
from pathlib import Path

from docs.benchmark_page import write_page
from docs.check_site import findings

ROOT = Path(__file__).parents[1]


def test_the_page_of_benchmarks(tmp_path: Path) -> None:
    folder = tmp_path / "benchmarks"
    (folder / "results").mkdir(parents=True)
    for name in ("right", "wrong", "new"):
        (folder / f"{name}.py").write_text(f'"""Is {name} fast?\n\nClaim: twice.\n"""\n')
    for name, held in (("right", True), ("wrong", False)):
        record = {
            "held": held,
            "output": ["10 s", f"ratio {3 - held} | claim 2"],
            "seconds": 10.0,
            "date": "2026-01-02",
            "commit": None,
            "machine": {"processors": 2, "processor": "fast"},
            "versions": {"numpy": "2.0"},
        }
        (folder / "results" / f"{name}.json").write_text(json.dumps(record))
    page = tmp_path / "generated" / "benchmarks.md"
    write_page(folder, page)
    text = page.read_text()
    assert "| Is right fast? | holds: `ratio 2 / claim 2` | 2026-01-02 |" in text
    assert "| Is wrong fast? | **a claim is missed**: `ratio 3 / claim 2` | 2026-01-02 |" in text
    assert "| Is new fast? | – | not run in this version |" in text
    assert "`python benchmarks/run.py new --save` runs it" in text
    assert (tmp_path / "generated" / "right.inc").read_text() == "10 s\nratio 2 | claim 2\n"
    written = page.stat().st_mtime_ns
    write_page(folder, page)
    assert page.stat().st_mtime_ns == written, "an equal page must not be built again"


def test_kept_results_belong_to_benchmarks() -> None:
    kept = {path.stem for path in (ROOT / "benchmarks" / "results").glob("*.json")}
    assert kept <= {path.stem for path in (ROOT / "benchmarks").glob("*.py")}


def test_faults_of_a_site_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<script src="https://cdn.example/x.js"></script><link rel="next" href="b.html">'
        '<a href="b.html#here">1</a><a href="b.html#there">2</a><a href="c.html">3</a>'
        '<a href="https://example.org">4</a>'
    )
    (tmp_path / "b.html").write_text('<h1 id="here">b</h1>')
    (tmp_path / "s.css").write_text("body { background: url('//cdn.example/x.png') }")
    assert sorted(findings(tmp_path.resolve())) == [
        "a.html fetches https://cdn.example/x.js",
        "a.html links to b.html#there, but that page has no such anchor",
        "a.html links to c.html, which is not there",
        "s.css fetches //cdn.example/x.png",
    ]
