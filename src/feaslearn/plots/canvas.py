"""What all pictures share: matplotlib, loaded when the first is drawn, and its colours."""

from __future__ import annotations

from typing import Any

from feaslearn.exceptions import MissingExtraError

#: Blue and orange that differ for colour-blind readers as well (Okabe and Ito's palette).
BLUE, ORANGE, GREY = "#0072B2", "#E69F00", "#999999"
#: From one sign to the other through white; it does not rely on red against green.
DIVERGING = "PuOr"


def pyplot() -> Any:
    """Return matplotlib's pyplot; say which extra brings it where it is missing."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtraError("matplotlib", "plot") from None
    return plt


def shortened(text: str, most: int) -> str:
    """Return a text of at most ``most`` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"
