"""Regions as tables: one vertex, or one constraint, in each row."""

from __future__ import annotations

import os

from feaslearn.exceptions import DataError, TooManyVerticesError, UnsupportedError
from feaslearn.export.exported import read_source
from feaslearn.export.naming import distinct_names
from feaslearn.io.tables import csv_text
from feaslearn.io.whole_files import check_writable, write_bytes
from feaslearn.messages import did_you_mean
from feaslearn.region import Region
from feaslearn.regressor.learned_region import LearnedRegion

#: What a table of a region at one signal can hold; that of a fitted model holds the "map".
CONTENTS = ("vertices", "halfspaces")


def to_csv(
    region: Region | LearnedRegion,
    path: str | os.PathLike[str],
    contents: str | None = None,
    limit: int = 10_000,
) -> None:
    r"""Write a region, or the whole map from signals to regions, as a CSV file or not at all.

    .. math:: A x \le b, \quad E x = e \qquad \text{or} \qquad a_j'x \le f_j'\phi(s)

    Parameters
    ----------
    region : Region or fitted RegionRegressor
        The region at one signal, which must not be curved; or a model whose rows are known, such
        as one of `Facets`.
    path : path-like
        Where to write.
    contents : {"vertices", "halfspaces", "map"}, default=None
        One vertex in each row, with a column for each decision; one inequality or equality, with
        its coefficients, ``<=`` or ``=``, and its limit; or, for a fitted model, one constraint
        with its name, its coefficients, ``<=``, ``>=`` or ``=``, and the coefficients of the
        constant and of the features on its right-hand side. None stands for "vertices", or for
        "map" where a model is given.
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
    if isinstance(region, LearnedRegion) and contents in (None, "map"):
        text = map_text(region)
    else:
        text = table_text(region, "vertices" if contents is None else contents, limit)
    write_bytes(path, text.encode("utf-8"))


def map_text(model: LearnedRegion) -> str:
    """Return a table of all rows of a fitted model, as ``a'x <= f'phi(s)``."""
    given = read_source(model)
    form, moving = given.form, given.moving
    if form.p or moving is None:
        raise UnsupportedError(
            f"the rows of {model.hypothesis_!r} are not known without vertices: its map has latent "
            "variables. to_cvxpy and the other tools take them, model.region(signal) has a table"
        )
    right = ["constant", *(f"{name}" for name in moving.names[1:])]
    names = distinct_names(["name", "kind", *given.names, "relation", *right])
    rows = []
    X, labels = form.X.toarray(), distinct_names(form.row_names(given.names))
    for i, (row, equal) in enumerate(zip(form.labels, form.equality, strict=True)):
        # The form has X x - r'w >= 0; a lower limit is one of the decision itself.
        relation = "=" if equal else ">=" if X[i].min() >= 0.0 else "<="
        sign = -1.0 if relation == "<=" else 1.0
        numbers = [sign * X[i] + 0.0, sign * form.r[:, i] + 0.0]
        rows.append([labels[i], row.kind, *numbers[0].tolist(), relation, *numbers[1].tolist()])
    return csv_text(names, rows)


def table_text(region: Region | LearnedRegion, contents: str, limit: int = 10_000) -> str:
    """Return the text of the file that `to_csv` writes of a region."""
    if not isinstance(region, Region):
        raise UnsupportedError(
            f"a table of {contents} holds a region at one signal, such as model.region(signal), "
            f"not {type(region).__name__}"
        )
    if contents not in CONTENTS:
        raise DataError(f"contents={contents!r} is not known; {did_you_mean(contents, CONTENTS)}")
    if contents == "vertices":
        return csv_text(distinct_names(region.names), region.vertices(limit).tolist())
    try:
        found = region.halfspaces(limit)
    except TooManyVerticesError as error:
        raise TooManyVerticesError(
            "the half-spaces of this region are not known as rows (a sum of sets) and "
            f"would take its vertices, of which there are too many ({error}); to_mps, to_lp and "
            "to_cvxpy (--format mps, lp) write it with latent variables, and a model of Facets "
            "alone has rows"
        ) from error
    rows = [
        [*coefficients.tolist(), relation, float(bound)]
        for relation, A, b in (("<=", found.A, found.b), ("=", found.E, found.e))
        for coefficients, bound in zip(A, b, strict=True)
    ]
    return csv_text(distinct_names([*region.names, "relation", "limit"]), rows)
