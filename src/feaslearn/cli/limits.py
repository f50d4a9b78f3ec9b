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
    rows = [pair for pair in zip(limits, cells, strict=True) if not pair[0].never_moved]
    still = dict.fromkeys(limit.never_moved for limit in limits if limit.never_moved)
    seen = [pair for pair in rows if pair[0].status != "not seen"]
    shown = seen[:most]
    names = max([len(limit.name) for limit, _ in shown if limit.is_facet], default=0)
    gap = "  " if names else ""

    def line(name: str, text: str) -> str:
        return f"{name:<{names}}{gap}{printable(shorten(text))}"

    texts = [
        line(limit.name if limit.is_facet else "", limit.fitted(WIDEST - names - 2))
        for limit, _ in shown
    ]
    balances = [line("", text) for text in equalities]
    width = min(WIDEST, max([len(title) - 3, *map(len, texts), *map(len, balances)]))
    said = [f"{title:<{width + 3}}  binds  worth   {head}"]
    for text, (limit, cell) in zip(texts, shown, strict=True):
        share = f"{100 * limit.share:.0f} %"
        worth = f"{limit.worth:.3g}" if limit.worth < 1000 else f"{limit.worth:.0f}"
        numbers = f"{share:>5}  {worth:>5}   {cell}"
        if len(text) > width:
            said += [f"   {text}", f"   {'':{width}}  {numbers}"]
        else:
            said.append(f"   {text:<{width}}  {numbers}")
    if len(shown) < len(seen):
        said.append(f"   {len(seen) - len(shown)} more that matter less: --verbose")
    if equalities:
        said.append("   equality, or a limit that always binds:")
        said += [f"   {text}" for text in balances]
    if still:
        said.append("   never moved in the data, other values not seen:")
        said.append(f"   * {printable(', '.join(still))}")
    if len(seen) < len(rows):
        said.append("   not seen, no price pushed there:")
    for limit, cell in rows:
        if limit.status == "not seen":
            text = f"{printable(limit.honest):<{width}}  {'' if beside is None else cell:>15}"
            said.append(f"   * {text}".rstrip())
    return said
