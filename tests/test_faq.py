"""The messages that docs/faq.md shows are those of the running code."""

from __future__ import annotations

import re
import runpy
import warnings
from pathlib import Path

import pytest

from feaslearn.exceptions import FeaslearnError

PAGE = (Path(__file__).parents[1] / "docs" / "faq.md").read_text("utf-8")
PAIR = re.compile(
    r"^### (?P<title>[^\n]*)$"
    r"|^```python\n(?P<code>(?:(?!```)[^\n]*\n)*)```\n```text\n(?P<told>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
SETUP = re.search(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def entries() -> list[tuple[str, str, str]]:
    """Return title, code and message of every entry that has them."""
    found, title = [], ""
    for match in PAIR.finditer(PAGE):
        title = match["title"] or title
        if match["code"]:
            found.append((f"{title} {len(found)}", match["code"], match["told"]))
    return found


@pytest.mark.parametrize(
    ("code", "told"), [pytest.param(*rest, id=title) for title, *rest in entries()]
)
def test_the_message_is_what_the_code_says(
    code: str,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert SETUP is not None
    script = tmp_path / "entry.py"
    script.write_text(SETUP[1] + code, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    said = ""
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        try:
            runpy.run_path(str(script))
        except FeaslearnError as error:
            said = str(error)
    messages = [said, capsys.readouterr().out, *(str(each.message) for each in met)]
    assert " ".join(told.split()) in [" ".join(message.split()) for message in messages]
