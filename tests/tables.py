"""Files as users have them, for the tests of the command line."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.datasets import load_iris

from sslart.cli import main


def iris(folder: Path, name: str = "iris.csv") -> Path:
    """Write iris with a name for each flower, and a species for one in five."""
    data = load_iris(as_frame=True)
    frame = data.data.assign(flower=[f"flower {i}" for i in range(150)], species=data.target_names[data.target])
    frame.loc[[i for i in range(150) if i % 5], "species"] = None
    return write(frame, folder / name)


def mixed(folder: Path, name: str = "mixed.csv", *, labels: bool = True) -> Path:
    """Write numbers, categories, codes and gaps, with a class for one row in three."""
    random = np.random.default_rng(0)
    size = random.normal(5, 2, 120).round(2)
    frame = pd.DataFrame({"size": size.astype(object), "colour": random.choice(["red", "blue", "NA"], 120)})
    frame["code"] = random.integers(1, 4, 120)
    frame.loc[::7, "size"] = None
    frame.loc[3::11, "colour"] = None
    if labels:
        frame["kind"] = np.where(size > 5, "large", "small").astype(object)
        frame.loc[[i for i in range(120) if i % 3], "kind"] = None
    return write(frame, folder / name)


def write(frame: pd.DataFrame, path: Path) -> Path:
    if path.suffix == ".parquet":
        frame.infer_objects().to_parquet(path)
    elif path.suffix == ".feather":
        frame.infer_objects().to_feather(path, compression="uncompressed")
    elif path.suffix == ".arrow":
        table = pa.Table.from_pandas(frame)
        with pa.ipc.new_stream(path, table.schema) as stream:
            stream.write_table(table, max_chunksize=40)
    elif path.suffix == ".xlsx":
        frame.to_excel(path, index=False)
    else:
        frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


def iris_model(folder: Path) -> Path:
    """Give a model that the command line has fitted to iris."""
    return fitted(iris(folder), "--label", "species", "--id", "flower")


def mixed_model(folder: Path) -> Path:
    """Give a model that the command line has fitted to the mixed table."""
    return fitted(mixed(folder), "--label", "kind", "--category", "code")


def fitted(data: Path, *options: str) -> Path:
    path = data.with_suffix(".sslart")
    path.write_bytes(_fitted_once(data.read_bytes(), options))
    return path


@cache
def _fitted_once(data: bytes, options: tuple[str, ...]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        source, model = Path(folder) / "data.csv", Path(folder) / "model.sslart"
        source.write_bytes(data)
        assert main(["fit", str(source), *options, "--out", str(model), "--quiet"]) == 0
        return model.read_bytes()


def check_refused(arguments: list[str], words: Iterable[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Check that a command is refused in one line, which has these words, and prints nothing else."""
    assert main(arguments) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert len(printed.err.splitlines()) == 1
    for one in words:
        assert one in printed.err
