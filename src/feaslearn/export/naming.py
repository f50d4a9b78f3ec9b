"""Names that every tool and file format takes."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from feaslearn.exceptions import DataError
from feaslearn.messages import list_first
from feaslearn.region import RegionForm

#: Longer names are cut: files of linear programs take 255 characters, with room for a number.
LONGEST = 200
#: Words that mean something else in files in the LP format, or begin a section of an MPS file.
RESERVED = {
    *("bin", "binaries", "binary", "bound", "bounds", "end", "free", "gen", "general", "generals"),
    *("integer", "integers", "max", "maximise", "maximize", "maximum", "min", "minimise"),
    *("minimize", "minimum", "obj", "rhs", "semi", "semis", "sin", "sos", "st", "subject", "such"),
    *("that", "to"),
    *("columns", "csection", "delayedrows", "deleterows", "endata", "gencons", "indicators"),
    *("lazycons", "marker", "modelcuts", "name", "objname", "objsense", "pwlcon", "pwlnam"),
    *("pwlobj", "qcmatrix", "qmatrix", "qsection", "quadobj", "ranges", "refrow", "rows", "sets"),
    *("sos1", "sos2", "usercuts"),
}
#: What reads as a number, or begins like one: with an exponent, infinite or not a number.
NUMBER = re.compile(r"e(\d|$)|inf|nan", re.IGNORECASE)


def safe_names(names: Sequence[str]) -> dict[str, str]:
    """Return for each name one of ASCII letters, digits and underscores; no two are the same."""
    check_distinct(names)
    used: set[str] = set()
    # Names that stay come first: a renamed one must not take theirs.
    kept = [name for name in names if _cleaned(name) == name]
    found: dict[str, str] = {}
    for name in (*kept, *(name for name in names if name not in set(kept))):
        base = candidate = _cleaned(name)
        count = 1
        while candidate.casefold() in used:
            count += 1
            candidate = f"{base}_{count}"
        used.add(candidate.casefold())
        found[name] = candidate
    return {name: found[name] for name in names}


def check_distinct(names: Sequence[str]) -> None:
    """Refuse names of decisions that come twice: nobody could tell which is which."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        named = list_first([repr(name) for name in repeated[:5]], len(repeated))
        raise DataError(f"several decisions are called {named}; give each another name")


def distinct_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of which no two are the same: a name that comes again is numbered."""
    found: list[str] = []
    for name in names:
        count, candidate = 1, name
        while candidate in found:
            count += 1
            candidate = f"{name} ({count})"
        found.append(candidate)
    return tuple(found)


def names_of_rows(form: RegionForm, decisions: Sequence[str]) -> dict[str, str]:
    """Return for each row of a region its name, and one that every format takes."""
    return safe_names(distinct_names(form.row_names(decisions)))


def free_prefix(wanted: str, names: Sequence[str]) -> str:
    """Return ``wanted`` or something longer that no name begins with."""
    prefix = wanted
    while any(name.casefold().startswith(prefix.casefold()) for name in names):
        prefix = f"{wanted}{prefix}"
    return prefix


def _cleaned(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    text = name if plain == name else plain
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", text) is None:
        text = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")
    text = text[:LONGEST]
    unsafe = not text or text[0].isdigit() or text.casefold() in RESERVED or NUMBER.match(text)
    return f"x_{text}".rstrip("_") if unsafe else text
