"""Texts that files can hold."""

from __future__ import annotations


def is_whole(text: str) -> bool:
    r"""Say whether a text can be written as UTF-8: half of a pair of UTF-16 cannot.

    Examples
    --------
    >>> from feaslearn.io.texts import is_whole
    >>> is_whole("Größe"), is_whole("half of a letter: \ud800")
    (True, False)
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
