"""Write the page of benchmarks: what each claims, and what it printed when it was last run."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HEAD = """# Benchmarks

Every claim about speed or accuracy has a script in `benchmarks/`. This page is made from what the
scripts printed when they were last run, with the date, the machine and the versions; nothing on it
is typed by hand. Times depend on the machine and on what else it did (its load is given); ratios,
losses and counts hardly do.

```sh
python benchmarks/run.py                        # in a checkout: all of them, some take long
python benchmarks/run.py predict import_time    # by name
python benchmarks/run.py predict --save         # and keep what it prints for this page
```
"""
NOT_RUN = "not run in this version"
#: Lines of output that a row of the table holds.
MOST_LINES = 4


def write_page(folder: Path, page: Path) -> None:
    """Write the page from the scripts of a folder and their kept results.

    What each benchmark printed is also written beside it, for other pages to include.
    """
    scripts = [path for path in sorted(folder.glob("*.py")) if path.stem != "run"]
    parts = [HEAD, "| benchmark | question | answer | measured |", "|---|---|---|---|"]
    read = [(script.stem, _docstring(script), _record(script)) for script in scripts]
    read.sort(key=lambda each: each[2] is None)  # those that were run come first
    parts += [_row(*each) for each in read]
    for each in read:
        parts += _section(*each)
    _write(page, "\n".join(parts))
    for name, _, record in read:
        told = ["*Not run in this version.*"] if record is None else record["output"]
        _write(page.with_name(f"{name}.inc"), "\n".join(told))


def _write(path: Path, text: str) -> None:
    """Write a file unless it is already so: an equal page is not built again."""
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text("utf-8") != text + "\n":
        path.write_text(text + "\n", "utf-8")


def _docstring(script: Path) -> str:
    return ast.get_docstring(ast.parse(script.read_text("utf-8"))) or ""


def _record(script: Path) -> dict[str, Any] | None:
    path = script.parent / "results" / f"{script.stem}.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else None


def _row(name: str, docstring: str, record: dict[str, Any] | None) -> str:
    question = docstring.partition("\n")[0].rstrip(".")
    if record is None:
        return f"| [{name}](#bench-{name}) | {question} | – | {NOT_RUN} |"
    shown = " <br> ".join(_headlines(record["output"]))
    return (
        f"| [{name}](#bench-{name}) | {question} | {_verdict(docstring, record)}{shown} "
        f"| {record['date']} |"
    )


def _headlines(output: list[str]) -> list[str]:
    """Return the few lines that answer a claim: those that name one, or else a ratio."""
    if output[0].startswith("|"):
        return ["a table, below"]
    for word in ("(claim", ", claim ", "claim", "ratio"):
        found = [line for line in output if word in line and not line.startswith("claim:")]
        if found:
            return [f"`{_plain(line)}`" for line in found[:MOST_LINES]]
    return [f"`{_plain(line)}`" for line in output[:MOST_LINES]]


def _verdict(docstring: str, record: dict[str, Any]) -> str:
    if not record["held"]:
        return "**a claim is missed**: "
    return "holds: " if "Claim" in docstring else ""


def _plain(line: str) -> str:
    """Return a line of output as one cell of a table."""
    return " ".join(line.split()).replace("|", "/")


def _section(name: str, docstring: str, record: dict[str, Any] | None) -> Iterator[str]:
    yield f"\n(bench-{name})=\n## {name}\n"
    yield docstring.replace("``", "`") + "\n"
    if record is None:
        yield f"*{NOT_RUN.capitalize()}: `python benchmarks/run.py {name} --save` runs it.*\n"
        return
    told = "\n".join(record["output"])
    yield f"{told}\n" if told.startswith("|") else f"```none\n{told}\n```\n"
    machine, versions = record["machine"], record["versions"]
    facts = [f"`python benchmarks/run.py {name}`", record["date"], f"{record['seconds']:.0f} s"]
    facts.append(f"{machine['processors']} processors ({machine.get('processor')})")
    if machine.get("load") is not None:
        facts.append(f"load {machine['load']}")
    facts += [f"commit {record['commit']}"] if record["commit"] else []
    facts += [f"{package} {number}" for package, number in versions.items()]
    yield f"<small>{', '.join(facts)}</small>\n"


if __name__ == "__main__":
    write_page(Path(sys.argv[1]), Path(sys.argv[2]))
