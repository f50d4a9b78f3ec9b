"""Strings that terminals show, and files hold, as they are.

Names of columns, cells and files come from elsewhere. An escape sequence in one of them could
colour or clear the screen, a newline could begin a line that looks like one of ours, and a mark of
direction could turn what is read around.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def printable(text: str, *, lines: bool = False) -> str:
    """Return a string in which every character that does not print is written as its code."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() or (lines and each in "\n\t") else _code(each) for each in text
    )


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Return a table in HTML; all strings are escaped."""
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    lines = [("th", head), *(("td", row) for row in rows)]
    cells = ("".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row) for tag, row in lines)
    return f"<table>{title}{''.join(f'<tr>{line}</tr>' for line in cells)}</table>"


def is_unicode(text: str) -> bool:
    """Whether a string can be written as UTF-8: half of a pair of UTF-16 cannot."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _code(character: str) -> str:
    """Return the escape of a character."""
    return character.encode("unicode_escape").decode("ascii")
