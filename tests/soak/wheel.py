"""Say whether a wheel holds the files of the package, all of them and nothing else.

python tests/soak/wheel.py dist/*.whl
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src"


def differences(wheel: Path) -> list[str]:
    """Return what is missing in a wheel and what should not be there."""
    here = {
        path.relative_to(SOURCE).as_posix()
        for path in (SOURCE / "feaslearn").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        there = {name for name in archive.namelist() if ".dist-info/" not in name}
    missing = [f"missing in {wheel.name}: {name}" for name in sorted(here - there)]
    return missing + [f"should not be in {wheel.name}: {name}" for name in sorted(there - here)]


if __name__ == "__main__":
    found = [line for name in sys.argv[1:] for line in differences(Path(name))]
    print("\n".join(found) or "the wheel holds the files of the package and nothing else")
    sys.exit(bool(found))
