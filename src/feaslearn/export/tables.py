"""Regions as tables: one vertex, or one inequality, in each row."""

from __future__ import annotations

import os

from feaslearn.atomic import check_writable, write_bytes
from feaslearn.exceptions import DataError, UnsupportedError
from feaslearn.export.naming import distinct_names
from feaslearn.io.table_file import csv_text
from feaslearn.messages import did_you_mean
from feaslearn.region import Region

#: What a table can hold.
CONTENTS = ("vertices", "halfspaces")


def to_csv(
    region: Region,
    path: str | os.PathLike[str],
    contents: str = "vertices",
    limit: int = 10_000,
) -> None:
    r"""Write the vertices or the half-spaces of a region as a CSV file, whole or not at all.

    .. math:: A x \le b, \qquad E x = e

    Parameters
    ----------
    region : Region
        The region at one signal, which must not be curved.
    path : path-like
        Where to write.
    contents : {"vertices", "halfspaces"}, default="vertices"
        One vertex in each row, with a column for each decision; or one inequality or equality, with
        its coefficients, ``<=`` or ``=``, and its limit.
    limit : int, default=10_000
        Refuse a region with more vertices.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import feaslearn as fl
    >>> from feaslearn.sets import AffineImage
    >>> region = fl.Region(AffineImage(fl.Simplex(2), [[1.0, 0], [0, 2]], [0.0, 0]), ["a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "corners.csv"
    ...     fl.export.to_csv(region, path)
    ...     print(path.read_text())
    a,b
    1.0,0.0
    0.0,2.0
    """
    check_writable(path)
    write_bytes(path, table_text(region, contents, limit).encode("utf-8"))


def table_text(region: Region, contents: str, limit: int = 10_000) -> str:
    """Return the text of the file that `to_csv` writes."""
    if not isinstance(region, Region):
        raise UnsupportedError(
            f"to_csv holds a region at one signal, such as model.region(signal), not "
            f"{type(region).__name__}"
        )
    if contents not in CONTENTS:
        raise DataError(f"contents={contents!r} is not known; {did_you_mean(contents, CONTENTS)}")
    if contents == "vertices":
        return csv_text(distinct_names(region.names), region.vertices(limit).tolist())
    found = region.halfspaces(limit)
    rows = [
        [*coefficients.tolist(), relation, float(bound)]
        for relation, A, b in (("<=", found.A, found.b), ("=", found.E, found.e))
        for coefficients, bound in zip(A, b, strict=True)
    ]
    return csv_text(distinct_names([*region.names, "relation", "limit"]), rows)
