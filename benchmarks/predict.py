"""Predicting a million decisions, in units of one matrix product.

Claim: for ``Affine(Simplex(9))``, 3 decisions and 6 features, it takes at most 3 times as long as
the product (N, 6) x (6, 27) that evaluates all columns of all samples, both on one thread.
"""

from __future__ import annotations

import sys

from feaslearn import Affine, Simplex
from value_and_gradient import (
    COLUMNS,
    DECISIONS,
    FEATURES,
    MAX_RATIO,
    make_samples,
    median_seconds,
)


def main() -> int:
    """Print the times and the ratio; the exit code says whether the claim holds."""
    theta, samples = make_samples()
    matrix = theta.reshape(FEATURES, DECISIONS * COLUMNS)
    hypothesis = Affine(Simplex(COLUMNS))
    product, predict = median_seconds(
        {
            "product": lambda: samples.features @ matrix,
            "predict": lambda: hypothesis.predict(theta, samples.features, samples.costs),
        }
    ).values()
    print(f"product (N, 6) x (6, 27)   {product:8.4f} s")
    print(f"predict                    {predict:8.4f} s")
    print(f"ratio                      {predict / product:8.2f}     (claim: at most {MAX_RATIO})")
    return int(predict > MAX_RATIO * product)


if __name__ == "__main__":
    sys.exit(main())
