"""Small figures without a window."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from experiments.frame.files import write_bytes

#: Blue, orange, green and grey that colour-blind readers can tell apart.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#E69F00", "#009E73", "#999999"


def new_figure(width: float, height: float, *grid: int, **options: Any) -> tuple[Any, Any]:
    """Return a figure of so many inches, and its axes."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    return plt.subplots(*grid, figsize=(width, height), layout="constrained", **options)


def save(figure: Any, folder: Path, name: str) -> str:
    """Write a figure as a small PNG that is the same for the same numbers, and return its name."""
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=90, metadata={"Software": None})
    write_bytes(folder / name, picture.getvalue())
    plt.close(figure)
    return name
