"""sslart fit and predict with --dask: mistakes, named before a cluster is started. See test_dask_cluster.py too."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from sslart import SSLART, save
from sslart.cli import main


@pytest.fixture
def files(tmp_path: Path) -> Path:
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "kind": ["x", "y", None]})
    frame.to_csv(tmp_path / "part.csv", index=False)
    (tmp_path / "parts").mkdir()
    for number in range(2):
        frame.to_parquet(tmp_path / "parts" / f"part-{number}.parquet")
    save(SSLART().fit(frame[["a"]][:2], frame["kind"][:2]), tmp_path / "model.sslart")
    return tmp_path


@pytest.mark.parametrize(
    ("given", "cure"),
    [
        (["fit", "{}/part.csv", "--label", "kind", "--dask"], "convert it to Parquet, or leave --dask out"),
        (["fit", "{}/none-*.parquet", "--label", "kind", "--dask"], "No file matches"),
        (["fit", "{}/part.csv", "--label", "kind", "--scheduler", "tcp://127.0.0.1:1"], "add --dask"),
        (["fit", "{}/parts", "--label", "kind", "--dask", "--encoding", "utf-8"], "cannot be combined with --dask"),
        (["predict", "{}/model.sslart", "{}/parts", "--dask"], "give a folder with --out"),
        (["predict", "{}/model.sslart", "{}/parts", "--dask", "--out", "{}/part.csv"], "is a file"),
        (["predict", "{}/model.sslart", "{}/parts", "--dask", "--out", "{}/parts"], "give another one"),
        (["predict", "{}/model.sslart", "{}/parts", "--scheduler", "x", "--out", "{}/out"], "add --dask"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_mistakes_are_named(given: list[str], cure: str, files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = ["--out", str(files / "new.sslart")] if given[0] == "fit" else []
    assert main([one.replace("{}", str(files)) for one in given] + target) == 1
    assert cure in capsys.readouterr().err
    assert not (files / "new.sslart").exists()
