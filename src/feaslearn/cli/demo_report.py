"""One HTML page for the demo: no script, no style sheet or picture from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from feaslearn import __version__

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .4rem .8rem; text-align: right; border-bottom: 1px solid #8886; }
th:first-child, td:first-child { text-align: left; }
.scroll { overflow-x: auto; }
"""

NOTE = (
    "Losses are means over the test rows; smaller is better. The returned-decision loss is the "
    "squared distance from the model's decision to the observed one. Predictability is the "
    "distance from the observed decision to the optimal decisions of the learned region; "
    "suboptimality adds up how far it is from that region and from the optimal cost there. The "
    "true losses measure the model's decision in the problem that made the data. A dash: not "
    "defined for this model."
)


def render(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return the page as text; everything that is passed in is escaped.

    Parameters
    ----------
    title : str
        Heading of the page.
    columns : sequence of str
        Heads of the table.
    rows : iterable of sequences of str
        Its lines, each as long as ``columns``.

    Returns
    -------
    str
        A complete HTML document.

    Examples
    --------
    >>> "<td>a &lt; b</td>" in render("Title", ["model"], [["a < b"]])
    True
    """
    body = "\n".join(f"<tr>{_cells('td', row)}</tr>" for row in rows)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{escape(title)}</h1>
<div class="scroll"><table>
<thead><tr>{_cells("th", columns)}</tr></thead>
<tbody>
{body}
</tbody>
</table></div>
<p>{escape(NOTE)}</p>
<p>Made by feaslearn {escape(__version__)}.</p>
</body>
</html>
"""


def _cells(tag: str, texts: Iterable[str]) -> str:
    return "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts)
