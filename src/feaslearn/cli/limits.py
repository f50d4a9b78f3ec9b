"""The learned limits as lines of text: most valuable first, what was not seen last."""

from __future__ import annotations

from collections.abc import Sequence

from feaslearn.printable import printable
from feaslearn.regressor.limits import Limit, shorten

#: Limits that are shown; the others are counted.
MOST = 12
#: Widest left column; longer limits have a line for themselves.
WIDEST = 46


def limit_lines(
    limits: Sequence[Limit],
    equalities: Sequence[str],
    title: str,
    beside: tuple[str, Sequence[str]] | None = None,
    most: int | None = MOST,
) -> list[str]:
    """Return the table of limits as lines."""
    head, cells = beside or ("in the data", [limit.status for limit in limits])
    still = list(dict.fromkeys(limit.never_moved for limit in limits if limit.never_moved))
    moving = [i for i, limit in enumerate(limits) if not limit.never_moved]
    seen = [i for i in moving if limits[i].status != "not seen"]
    shown = seen if most is None else seen[:most]
    names = max([len(limits[i].name) for i in shown if limits[i].is_facet], default=0)
    named = [
        (limits[i].name if limits[i].is_facet else "", limits[i].fitted(WIDEST - names - 2))
        for i in shown
    ]
    gap = "  " if names else ""
    texts = [
        f"{name:<{names}}{gap}{printable(shorten(text))}"
        for name, text in (*named, *(("", text) for text in equalities))
    ]
    width = min(WIDEST, max([len(title) - 3, *map(len, texts)]))
    said = [f"{title:<{width + 3}}  binds  worth   {head}"]
    for text, i in zip(texts, shown, strict=False):
        share, worth = f"{100 * limits[i].share:.0f} %", _worth(limits[i].worth)
        numbers = f"{share:>5}  {worth:>5}   {cells[i]}"
        if len(text) > width:
            said += [f"   {text}", f"   {'':{width}}  {numbers}"]
        else:
            said.append(f"   {text:<{width}}  {numbers}")
    if len(shown) < len(seen):
        said.append(f"   {len(seen) - len(shown)} more that matter less: --verbose")
    if equalities:
        said += [
            "   equality, or a limit that always binds:",
            *(f"   {text}" for text in texts[len(shown) :]),
        ]
    if still:
        said += [
            "   never moved in the data, other values not seen:",
            f"   * {printable(', '.join(still))}",
        ]
    missing = [i for i in moving if i not in set(seen)]
    if missing:
        said.append("   not seen, no price pushed there:")
        for i in missing:
            text = printable(limits[i].honest)
            said.append(f"   * {text:<{width}}  {'' if beside is None else cells[i]:>15}".rstrip())
    return said


def _worth(value: float) -> str:
    """Return a shadow price with three digits."""
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"
