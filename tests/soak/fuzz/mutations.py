"""Damage done to valid files: to their bytes, to their structure, to the numbers in them."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

#: Numbers at which programs go wrong, as they stand in texts.
NUMBERS = (
    *("0", "1", "-1", "2", "-0.0", "1e308", "-1e308", "1e-320", "1e400", "nan", "NaN", "inf"),
    *("-Inf", "Infinity", "2147483648", "9223372036854775808", "1" + "0" * 400, "9" * 5000),
    *("0x10", "1_000", "1,5", "٣", "1e", "--1", "True", "", " ", "+", ".", "1.0.0", "4.9e-324"),
)
#: Bytes that mean something to one reader or another.
PIECES = (
    *(
        b"\x00",
        b"\xff",
        b"\xfe\xff",
        b"\xef\xbb\xbf",
        b"\n",
        b"\r",
        b"\r\n",
        b'"',
        b"'",
        b",",
        b";",
    ),
    *(b"\t", b"|", b"{", b"}", b"[", b"]", b"%", b"=", b"PAR1", b"\x80" * 9, b"\x7f\xff\xff\xff"),
    *(b"\xff" * 8, b"../../x", b"/etc/passwd", b"\xf0\x9f\x98\x80", b"\xed\xa0\x80", b"9" * 40),
)
#: Leaves of a JSON tree.
LEAVES = (
    *(None, True, False, 0, 1, -1, 2, 3, 7, 60, 10**6, 2**31, 2**63, 10**30, 10**4000, 0.5, -0.0),
    *(1e308, 5e-324, "", "0", "x", "é", "\ud800", "\x00", "a" * 10_000, "../../x", "auto", "nan"),
    *([], {}, [[]], [None], {"$": "float", "value": "nan"}, {"$": "float", "value": "inf"}),
)


def change_bytes(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Flip bits, cut, repeat, put pieces in, or go on as another file does."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
        if not data:
            break
        start = rng.randrange(len(data))
        stop = min(len(data), start + rng.choice((1, 2, 4, 8, 64, 1024)))
        kind = rng.randrange(7)
        if kind == 0:
            data[start] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[start] = rng.randrange(256)
        elif kind == 2:
            data[start:stop] = b""
        elif kind == 3:
            data[start:start] = data[start:stop] * rng.choice((1, 2, 50))
        elif kind == 4:
            data[start : rng.choice((start, stop))] = rng.choice(PIECES)
        elif kind == 5:
            other = rng.choice(others)
            data[start:] = other[rng.randrange(len(other) + 1) :]
        else:
            data = data[:start] if rng.random() < 0.3 else data
    return bytes(data[: 2**20])


def change_text(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Change numbers, cells, lines and columns of a text in which they stand."""
    text = data.decode("utf-8", errors="surrogateescape")
    for _ in range(rng.choice((1, 1, 2, 5))):
        text = rng.choice(TEXT_CHANGES)(text, rng)
    return text.encode("utf-8", errors="surrogateescape")[: 2**20]


def _number(text: str, rng: random.Random) -> str:
    places = [found.span() for found in re.finditer(r"-?\d[\d.eE+-]*", text)]
    if not places:
        return text
    start, stop = rng.choice(places)
    return text[:start] + rng.choice(NUMBERS) + text[stop:]


def _word(text: str, rng: random.Random) -> str:
    places = [found.span() for found in re.finditer(r"[^\s,;|]+", text)]
    if not places:
        return text
    (start, stop), (first, last) = rng.choice(places), rng.choice(places)
    return text[:start] + text[first:last] + text[stop:]


def _line(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    here, there = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(4)
    if kind == 0:
        del lines[here]
    elif kind == 1:
        lines[here:here] = [lines[there]] * rng.choice((1, 2, 300))
    elif kind == 2:
        lines[here], lines[there] = lines[there], lines[here]
    else:
        lines[here] += rng.choice((",", ";", ",,,,", ' "', "\t", "];", "%", ",1" * 3000))
    return "\n".join(lines)


def _column(text: str, rng: random.Random) -> str:
    """Do the same to one cell of every line."""
    mark = max(",;\t|", key=text.count)
    place, new = rng.randrange(8), rng.choice((*NUMBERS, None, "x", "a,b", '"a"', "'='"))
    rows = [line.split(mark) for line in text.split("\n")]
    for row in rows:
        if place < len(row) and rng.random() < 0.95:
            row[place : place + 1] = [] if new is None else [new]
    return "\n".join(mark.join(row) for row in rows)


TEXT_CHANGES: tuple[Callable[[str, random.Random], str], ...] = (_number, _number, _word, _line)
TEXT_CHANGES += (_column,)


def change_tree(tree: Any, rng: random.Random, others: Sequence[Any]) -> Any:
    """Swap, replace, delete and repeat subtrees of JSON, also with those of other files."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        container, key = rng.choice(places(tree))
        kind = rng.randrange(9)
        if kind == 0:
            container[key] = copy.deepcopy(rng.choice(LEAVES))
        elif kind == 1:
            other, there = rng.choice(places(rng.choice([tree, *others])))
            container[key] = copy.deepcopy(other[there])
        elif kind == 2:
            del container[key]
        elif kind >= 5:
            container[key] = _near(container[key], rng)
        elif kind == 4 and isinstance(container, list):
            container[key:key] = [copy.deepcopy(container[key])] * rng.choice((1, 2, 200))
        else:
            for _ in range(rng.choice((1, 2, 70, 500))):
                container[key] = [container[key]]
        if not places(tree):
            break
    return tree


def _near(node: Any, rng: random.Random) -> Any:
    """Return something of the same kind: a number beside it, a text with one change."""
    if isinstance(node, bool) or node is None:
        return not node
    if isinstance(node, int):
        return node + rng.choice((-1, 1, 1, 2, -node, 1000))
    if isinstance(node, float):
        return rng.choice((-node, node * 1e10, node + 1.0, int(max(-9e9, min(9e9, node)))))
    if isinstance(node, str):
        return change_bytes(node.encode(), rng, [b"A"]).decode("latin-1")
    if isinstance(node, list):
        return rng.sample(node, len(node))
    return [node]


def places(tree: Any) -> list[tuple[Any, Any]]:
    """List every place of a tree as a container and a key."""
    found: list[tuple[Any, Any]] = []
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        items = node.items() if isinstance(node, dict) else enumerate(node)
        for key, value in items:
            found.append((node, key))
            if isinstance(value, dict | list):
                waiting.append(value)
    return found
