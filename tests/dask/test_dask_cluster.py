"""Models fitted on a cluster of two workers: the same bits as without, and what stays on the workers."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask_tables import EVIDENCE, N, arrays, blobs, frames, saved
from distributed import Client, LocalCluster

from sslart.cli import main
from sslart.dask import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # sockets of a cluster that closes


@contextmanager
def cluster_of_two(processes: bool = True) -> Iterator[Client]:
    options: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(processes=processes, **options) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture(scope="module", params=["threads", pytest.param("processes", marks=pytest.mark.slow)])
def client(request: pytest.FixtureRequest) -> Iterator[Client]:
    """Return a client of two workers; those in processes of their own take seconds to start."""
    with cluster_of_two(request.param == "processes") as one:
        yield one


def alone(model: Any, *table: Any) -> bytes:
    with dask.config.set(scheduler="synchronous"):
        return saved(model.fit(*table).to_local())


def test_a_cluster_makes_the_same_bits_as_one_process(client: Client) -> None:
    X, few, y = arrays(chunk=40)
    for model, labels in ((FuzzyART(), ()), (FuzzyARTMAP(), (y,)), (AutoSSLART(random_state=0), (few,))):
        assert saved(model.fit(X, *labels).to_local()) == alone(model, X, *labels)
    X, few, _ = frames(n_partitions=6)
    ensemble = WESSLART(2, random_state=0)
    assert saved(ensemble.fit(X, few).to_local()) == alone(ensemble, X, few)


def test_workers_keep_nothing_after_a_fit(client: Client) -> None:
    SSLART(random_state=0).fit(*arrays(chunk=20)[:2])
    deadline = time.monotonic() + 10
    while client.who_has() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not client.who_has()


def test_the_model_goes_to_the_cluster_once(client: Client) -> None:
    X, few, y = arrays()
    model = SSLART(**EVIDENCE).fit(X, few)
    lazy = [model.predict(X), model.predict_proba(X)]
    classes, proba = dask.compute(*lazy)
    assert np.array_equal(classes, model.predict(blobs()[0]))
    assert np.array_equal(proba, model.predict_proba(blobs()[0]))
    assert model.score(X, y) > 0.97
    models = [key for key in client.who_has() if str(key).startswith("sslart-model")]
    assert len(models) == 1


def test_tasks_have_names_for_the_dashboard(client: Client) -> None:
    SSLART(random_state=0).fit(*arrays(chunk=20)[:2])
    names = set(client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes)))
    assert {"sslart-scan", "sslart-scan-join", "sslart-learn", "sslart-merge"} <= names


def test_files_are_read_by_the_workers(client: Client, tmp_path: Path) -> None:
    X, few, _ = blobs()
    for number in range(4):
        rows = slice(number * N // 4, (number + 1) * N // 4)
        frame = pd.DataFrame(X[rows], columns=["a", "b", "c"]).assign(label=few[rows])
        frame.to_parquet(tmp_path / f"part-{number}.parquet")
    table = dd.read_parquet(tmp_path / "part-*.parquet")
    model = SSLART(random_state=0)
    assert saved(model.fit(table[["a", "b", "c"]], table["label"]).to_local()) == alone(
        model, table[["a", "b", "c"]], table["label"]
    )
    assert model.support_.sum() == N


def test_an_error_of_a_partition_is_that_of_the_table(client: Client) -> None:
    values, few = blobs()[0], arrays()[1]
    values[130, 0] = np.inf
    X = da.from_array(values, chunks=60)
    with pytest.raises(ValueError, match="Partition 2, counted from 0: Input X contains infinity"):
        SSLART().fit(X, few)


def parquet_parts(folder: Path) -> Path:
    """Write a table of numbers, categories and dates as four files, and return their folder."""
    X, few, _ = blobs()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["id"] = [f"row {number}" for number in range(N)]
    frame["day"] = pd.date_range("2024-01-01", periods=N, freq="D")
    frame["code"] = np.arange(N) % 3
    frame["kind"] = np.array(["low", "middle", "high", None], dtype=object)[few]
    folder.mkdir()
    for number in range(4):
        frame[number * N // 4 : (number + 1) * N // 4].to_parquet(folder / f"part-{number}.parquet", index=False)
    return folder


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of dask, on workers that are threads of this process
def test_the_command_line_learns_and_predicts_many_files(
    client: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts, model_file, out = parquet_parts(tmp_path / "parts"), str(tmp_path / "model.sslart"), tmp_path / "out"
    address = ["--dask", "--scheduler", client.scheduler.address]  # type: ignore[union-attr]
    columns = ["--label", "kind", "--id", "id", "--category", "code"]
    assert main(["fit", str(parts / "part-*.parquet"), *columns, "--out", model_file, *address]) == 0
    printed = capsys.readouterr().out
    assert "240, of which 60 labelled" in printed
    assert "2024-01-01 to 2024-08-27" in printed
    assert "3 categories: '0', '1', '2'" in printed
    assert main(["predict", model_file, str(parts), "--append", "--out", str(out), *address]) == 0
    assert "240 rows written" in capsys.readouterr().err
    whole = pd.read_parquet(out)
    assert sorted(path.name for path in out.iterdir()) == [f"part-{number}.parquet" for number in range(4)]
    assert (whole["class"] == np.array(["low", "middle", "high"])[blobs()[2]]).mean() > 0.97
    one = tmp_path / "one.parquet"
    assert main(["predict", model_file, str(parts / "part-1.parquet"), "--append", "--out", str(one), "--quiet"]) == 0
    assert one.read_bytes() == (out / "part-1.parquet").read_bytes()


def test_one_worker_makes_the_same_bits_as_two(client: Client) -> None:
    X, few, _ = arrays(chunk=20)
    model = SSLART(mapping="one-to-one", random_state=0)
    with_two = saved(model.fit(X, few).to_local())
    client.cluster.scale(1)  # type: ignore[union-attr]
    while len(client.scheduler_info()["workers"]) > 1:
        time.sleep(0.05)
    assert saved(model.fit(X, few).to_local()) == with_two


def _read_and_killed(frame: pd.DataFrame, number: int, reads: str, kill_at: int) -> pd.DataFrame:
    """Return a partition; the worker that reads the sixth one for the n-th time dies."""
    if number == 5:
        with Path(reads).open("a") as file:
            file.write("read\n")
        if len(Path(reads).read_text().splitlines()) == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
    return frame


@pytest.mark.slow
@pytest.mark.parametrize("kill_at", [1, 2], ids=["in the first pass", "in the second pass"])
def test_a_worker_that_is_killed_costs_its_partition_only(kill_at: int, tmp_path: Path) -> None:
    X, few, _ = blobs()
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(label=few)
    reads = tmp_path / "reads"

    def table(kill_at: int) -> tuple[Any, Any]:
        pieces = [frame[start : start + 20] for start in range(0, N, 20)]
        made = [dask.delayed(_read_and_killed)(one, number, str(reads), kill_at) for number, one in enumerate(pieces)]
        whole = dd.from_delayed(made, meta=frame[:0])
        return whole[["a", "b", "c"]], whole["label"]

    model = AutoSSLART(random_state=0)
    expected = alone(model, *table(0))
    assert len(reads.read_text().splitlines()) == 2
    reads.unlink()
    with cluster_of_two() as client:
        before = set(client.scheduler_info()["workers"])
        found = saved(model.fit(*table(kill_at)).to_local())
        assert set(client.scheduler_info()["workers"]) != before
    assert len(reads.read_text().splitlines()) >= 3
    assert found == expected
