"""Fuzz the loaders: damaged files must be refused with errors of ours, soon, and in little memory.

    python tests/soak/fuzz --seconds 600            # each loader
    python tests/soak/fuzz --seconds 60 model csv

A loader runs in a process of its own. One that dies or hangs is a finding like an exception of
another kind, a case that takes long and one that takes much memory; the file stays in the folder.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import time
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
#: Seconds without a new case after which a process hangs (compiling takes some), and its memory.
HANGS, BYTES = 600.0, 8 * 2**30
#: Cases after which what came of them is written down.
REPORTED = 50


def work(loader: str, seconds: float, seed: int, folder: Path) -> None:
    """Fuzz in this process and write down what came of it."""
    from soak.fuzz.campaign import Campaign, until
    from soak.fuzz.loaders import LOADERS

    # As in the tests: a NaN or an overflow inside the library is a bug, not a message.
    warnings.filterwarnings("error", category=RuntimeWarning, module="feaslearn")
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    campaign, go_on = Campaign(LOADERS[loader], seed, folder), until(seconds)

    def report() -> None:
        found = {
            "cases": campaign.cases,
            "outcomes": dict(campaign.outcomes.most_common()),
            "findings": campaign.findings,
        }
        (folder / f"result-{seed}.json").write_text(json.dumps(found), "utf-8")

    def reported(cases: int) -> bool:
        # Where the process dies, what came of the cases before counts.
        if cases % REPORTED == 0:
            report()
        return go_on(cases)

    campaign.run(reported)
    report()


def watch(loader: str, seconds: float, seed: int, folder: Path) -> tuple[int, list[str]]:
    """Fuzz a loader in processes of its own; return the number of cases and the findings."""
    folder.mkdir(parents=True, exist_ok=True)
    end, cases, findings = time.monotonic() + seconds, 0, []
    while (left := end - time.monotonic()) > 1.0:
        died = _one_process(loader, left, seed, folder)
        result = folder / f"result-{seed}.json"
        if result.exists():
            found = json.loads(result.read_text("utf-8"))
            cases += found["cases"]
            findings += found["findings"]
            print(f"{loader}: {found['cases']} cases, seed {seed}", flush=True)
            for outcome, count in found["outcomes"].items():
                print(f"  {count:8} {outcome}")
        if not died:
            break
        for case in folder.glob("case.*"):
            kept = folder / f"died-{seed}{case.suffix}"
            shutil.copy(case, kept)
            if _ends_without_us(loader, kept):
                print(f"{loader}: {kept.name} ends the package that reads it, without us")
            else:
                findings.append(f"the process {died}: {kept.name}")
        seed += 1
    return cases, findings


def _ends_without_us(loader: str, case: Path) -> bool:
    """Say whether the package that we ask for files ends a process by itself."""
    arguments = [loader, "--without-us", str(case)]
    return subprocess.run([sys.executable, __file__, *arguments], check=False).returncode < 0


def read_without_us(loader: str, case: Path) -> None:
    """Read a case by another package, if there is one."""
    from soak.fuzz.loaders import LOADERS

    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    read = LOADERS[loader].without_us
    if read is not None:
        read(case)


def _one_process(loader: str, seconds: float, seed: int, folder: Path) -> str:
    """Run one process to its end; return how it ended if not as it should."""
    arguments = [loader, "--seconds", str(seconds), "--seed", str(seed), "--folder", str(folder)]
    start = time.time()
    with subprocess.Popen([sys.executable, __file__, "--here", *arguments]) as process:
        while process.poll() is None:
            time.sleep(0.2)
            current = [case.stat().st_mtime for case in folder.glob("case.*")]
            if time.time() - max([start, *current]) > HANGS:
                process.kill()
                return "hung"
    return "" if process.returncode == 0 else f"ended with {process.returncode}"


def main() -> int:
    """Read the command line; return 1 if there are findings."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("loaders", nargs="*", help="all by default")
    parser.add_argument("--seconds", type=float, default=600.0, help="for each loader")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "fuzz")
    parser.add_argument("--here", action="store_true", help="without a process around it")
    parser.add_argument("--without-us", type=Path, help="read one case by another package")
    options = parser.parse_args()
    sys.path[:0] = [str(ROOT / "tests")]
    if options.without_us:
        read_without_us(options.loaders[0], options.without_us)
        return 0
    if options.here:
        work(options.loaders[0], options.seconds, options.seed, options.folder)
        return 0
    from soak.fuzz.loaders import LOADERS

    every = []
    for loader in options.loaders or LOADERS:
        folder = options.folder / loader
        cases, findings = watch(loader, options.seconds, options.seed, folder)
        every += [f"{loader}: {finding}" for finding in findings]
        print(f"{loader}: {cases} cases, {len(findings)} findings", flush=True)
    print("\n".join(every))
    return 1 if every else 0


if __name__ == "__main__":
    sys.exit(main())
