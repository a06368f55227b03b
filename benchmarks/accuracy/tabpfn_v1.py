"""TabPFN v1, a rival that is measured on request: `make accuracy TABPFN=1`.

Its network is a checkpoint of 100 MB that only the source archive of `tabpfn` 0.1.0 has; the code is that of 0.1.11.
Both, and torch where the environment has none, are installed into a folder of their own below `results`, which
is never committed.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import importlib.util
import os
import subprocess
import sys
import tarfile
import tempfile
from functools import cache, partial
from pathlib import Path
from typing import Any, Optional

from pieces import ROOT

NAME = "TabPFN v1"
FOLDER = ROOT / "results" / "tabpfn"
CODE, ARCHIVE = "tabpfn==0.1.11", "tabpfn==0.1.0"
CHECKPOINT = Path("tabpfn") / "models_diff" / "prior_diff_real_checkpoint_n_0_epoch_42.cpkt"
DIGEST = "3c9aadaeddbf51462af8c0ee4b3ca3c697890f77e92318abbb0821b75261c392"
# the archive cannot be read by newer versions of the tool that builds it, which pip calls before it keeps the file
BUILD_TOOL = "hatchling<1.19"
MAX_ROWS, MAX_FEATURES, MAX_CLASSES = 1000, 100, 10


def installed(folder: Path = FOLDER) -> bool:
    """Return True if the code and the checkpoint are there."""
    return (folder / CHECKPOINT).exists()


def install(torch: str, folder: Path = FOLDER) -> None:
    """Install what is missing into `folder`; `torch` is the requirement that pip is given."""
    if installed(folder):
        return
    if importlib.util.find_spec("torch") is None and not (folder / "torch").exists():
        _pip("install", "--target", str(folder), torch)
    _pip("install", "--no-deps", "--upgrade", "--target", str(folder), CODE)
    with tempfile.TemporaryDirectory() as place:
        constraint = Path(place) / "build.txt"
        constraint.write_text(BUILD_TOOL + "\n")
        options = ("--no-deps", "--no-binary", "tabpfn", "--dest", place)
        _pip("download", *options, ARCHIVE, PIP_CONSTRAINT=str(constraint))
        (archive,) = Path(place).glob("*.tar.gz")
        content = checkpoint_of(archive)
    (folder / CHECKPOINT).parent.mkdir(parents=True, exist_ok=True)
    (folder / CHECKPOINT).write_bytes(content)


def checkpoint_of(archive: Path) -> bytes:
    """Return the checkpoint in a source archive; one with other content than the known one is refused."""
    with tarfile.open(archive) as files:
        (member,) = (member for member in files.getmembers() if member.name.endswith(CHECKPOINT.as_posix()))
        file = files.extractfile(member)
        content = b"" if file is None else file.read()
    if hashlib.sha256(content).hexdigest() != DIGEST:
        raise ValueError(f"{archive.name}: the checkpoint is not the one that this benchmark was written for")
    return content


def _pip(*arguments: str, **environment: str) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", *arguments]
    subprocess.run(command, check=True, env={**os.environ, **environment})


@cache
def classifier() -> Any:
    """Return the class `TabPFNClassifier`, made to run with the installed torch and scikit-learn, on one thread."""
    if not installed():
        raise FileNotFoundError(f"{NAME} is not installed: make accuracy TABPFN=1, or python -m accuracy.tabpfn_v1")
    sys.path.append(str(FOLDER))  # at the end, so that the environment's own packages come first
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    # what the code of 2023 expects: a name that torch's module imported, ...
    importlib.import_module("torch.nn.modules.transformer").Optional = Optional
    interface = importlib.import_module("tabpfn.scripts.transformer_prediction_interface")
    # ... torch.load for a file with more than tensors, ...
    builder = importlib.import_module("tabpfn.scripts.model_builder")
    builder.torch = _Torch(torch)
    # ... a default of torch's `checkpoint`, ...
    interface.checkpoint = partial(interface.checkpoint, use_reentrant=True)
    # ... and the former name of a parameter of scikit-learn
    for name in ("check_X_y", "check_array"):
        setattr(interface, name, partial(_with_former_name, getattr(interface, name)))
    return interface.TabPFNClassifier


class _Torch:
    """The module torch, whose `load` reads a checkpoint of any content."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self.load = partial(torch.load, weights_only=False)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._torch, name)


def _with_former_name(check: Any, *arrays: Any, force_all_finite: bool) -> Any:
    return check(*arrays, ensure_all_finite=force_all_finite)


def make() -> Any:
    """Return the classifier with its defaults: an average over 3 arrangements of classes and features."""
    return classifier()(device="cpu", seed=0)


def main() -> None:
    parser = argparse.ArgumentParser(description="Install TabPFN v1 for `python -m accuracy.run --tabpfn`.")
    parser.add_argument("--torch", default="torch", help="requirement for pip, such as torch==2.13.0+cpu")
    install(parser.parse_args().torch)
    print(f"{NAME} is in {FOLDER}")


if __name__ == "__main__":
    main()
