"""Strings that terminals show, and files hold, as they are.

Names of columns, cells and files come from elsewhere. An escape sequence in one of them could
colour or clear the screen, a newline could begin a line that looks like one of ours, and a mark of
direction could turn what is read around.
"""

from __future__ import annotations


def printable(text: str, *, lines: bool = False) -> str:
    """Return a string in which every character that does not print is written as its code."""
    kept = "\n\t" if lines else ""
    return "".join(
        each if each.isprintable() or each in kept else each.encode("unicode_escape").decode()
        for each in text
    )
