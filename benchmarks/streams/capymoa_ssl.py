"""CapyMOA's semi-supervised learners, rivals that need Java: OSNN and SLEADE under its `prequential_ssl_evaluation`.

CapyMOA asks for other versions of packages than sslart is tested with, and OSNN for torch, so that they are installed
into a folder of their own below `results`, which is never committed, and run in a process of their own:

    python -m streams.capymoa_ssl --torch torch==2.13.0+cpu
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from pieces import ROOT
from streams.data import Stream, labelled
from streams.protocol import found

FOLDER = ROOT / "results" / "capymoa"
REQUIREMENT = "capymoa==0.15.1"
SLEADE, OSNN = "SLEADE", "OSNN"
NAMES = (SLEADE, OSNN)
WORKER = Path(__file__).with_name("capymoa_worker.py")
INSTALL = "python -m streams.capymoa_ssl"


def names(is_short: bool) -> tuple[str, ...]:
    """Return the learners that are measured by default: OSNN only on short streams, as it takes that long."""
    return NAMES if is_short else (SLEADE,)


def install(torch: str, folder: Path = FOLDER) -> None:
    """Install CapyMOA, with what it requires, and torch into `folder`; `torch` is the requirement that pip is given."""
    if (folder / "capymoa").exists() and (folder / "torch").exists():
        return
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder), REQUIREMENT, torch]
    subprocess.run(command, check=True)


def reason_to_skip(name: str, n_classes: int = 2, folder: Path = FOLDER) -> str | None:
    """Return why a learner cannot be measured, or None where it can."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        return "Java is not on this machine"
    if not (folder / "capymoa").exists():
        return f"CapyMOA is not installed: `{INSTALL}` in `benchmarks`"
    if name == OSNN and not (folder / "torch").exists():
        return f"OSNN needs torch, which is not installed: `{INSTALL}` in `benchmarks`"
    if name == OSNN and n_classes > 2:
        return "OSNN has one output and learns two classes only"
    return None


def measure(name: str, stream: Stream, share: float, seed: int, folder: Path = FOLDER) -> dict[str, Any]:
    """Return the result of CapyMOA's evaluation of one learner, in the form of our own protocol.

    The evaluation draws the labels itself; `streams.data.labelled` draws the same.
    """
    with tempfile.TemporaryDirectory() as place:
        data, result = Path(place) / "stream.npz", Path(place) / "result.json"
        np.savez(data, X=stream.X, y=stream.y)
        command = [sys.executable, str(WORKER), name, str(data), str(share), str(seed), str(result)]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(folder)}, stdout=subprocess.DEVNULL)
        outcome = json.loads(result.read_text())
    if outcome["shown"] != labelled(len(stream.y), share, seed).tolist():
        raise ValueError("CapyMOA showed other labels than those of the other contenders; is it another version?")
    return found(np.array(outcome["predictions"]) == stream.y, outcome["seconds"])


def main() -> None:
    parser = argparse.ArgumentParser(description="Install CapyMOA for `python -m streams.run`.")
    parser.add_argument("--torch", default="torch", help="requirement for pip, such as torch==2.13.0+cpu")
    install(parser.parse_args().torch)
    print(f"CapyMOA is in {FOLDER}")


if __name__ == "__main__":
    main()
