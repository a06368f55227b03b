"""The same estimators under MLServer, BentoML and our service, measured in turns."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from serve.calls import CALLS, Call, arrays_call, infer_call
from serve.data import Table
from serve.environments import BENTOML, MLSERVER, python_of, reason_to_skip
from serve.load import Generator
from serve.service import Service, processor_seconds
from serve.states import CONNECTIONS, ROWS
from serve.web import Http, answers, free_ports, wait_until
from sslart import AutoSSLART, save

OURS, OURS_BY_NAME = "sslart, infer", "sslart, predict"
WITHOUT_WORKER, BENTO = f"{MLSERVER}, in one process", BENTOML
PEERS = {WITHOUT_WORKER: MLSERVER, MLSERVER: MLSERVER, BENTO: BENTOML}
PROBABILITIES = "predict_proba"  # of the outputs of MLServer's runtime for scikit-learn
TOLERANCE = 1e-6
SECONDS_TO_STOP = 20.0


@dataclass(frozen=True)
class Contender:
    """A server with its process, how it is asked, and how its answer is read: as probabilities."""

    url: str
    pid: int
    call: Callable[[Table, int], Call]
    read: Callable[[bytes], Any]


def in_turns(
    folder: Path,
    service: Service,
    tables: Sequence[Table],
    generator: Generator,
    seconds: float,
    n_rounds: int,
    peers: Sequence[str] = tuple(PEERS),
) -> Iterator[dict[str, Any]]:
    """Yield what is found for our service, which has fitted the tables, and for each peer: one at a time."""
    models = _saved(folder / "models", tables)
    with ExitStack() as stack:
        contenders = {
            OURS: Contender(
                service.url, service.process.pid, CALLS["infer"], lambda content: _output(content, "probabilities")
            ),
            OURS_BY_NAME: Contender(service.url, service.process.pid, CALLS["predict"], _of_rows),
        }
        for name in peers:
            contenders[name] = stack.enter_context(_STARTED[name](folder / name.replace(", ", "-"), models))
        _check_same(contenders, tables)
        for turn in range(n_rounds):
            for table in tables:
                for n_rows in ROWS:
                    for n_connections in CONNECTIONS:
                        for name, one in contenders.items():
                            before = processor_seconds(one.pid)
                            found = generator.measure(one.url, one.call(table, n_rows), n_connections, seconds)
                            found["processor"] = _per_request(before, processor_seconds(one.pid), found["answered"])
                            about = {"contender": name, "table": table.name, "turn": turn}
                            yield {**about, "each": n_rows, "connections": n_connections, **found}


def _per_request(before: float | None, after: float | None, n_requests: int) -> float | None:
    """Return the milliseconds of a processor that each request has cost."""
    return None if before is None or after is None else 1e3 * (after - before) / n_requests


def skipped() -> dict[str, str]:
    """Return why peers cannot be measured."""
    found = {name: reason_to_skip(PEERS[name]) for name in (MLSERVER, BENTO)}
    return {name: reason for name, reason in found.items() if reason is not None}


def _saved(folder: Path, tables: Sequence[Table]) -> Path:
    """Fit the estimator to each table as the service does, and keep it: to arrays, as the peers pass them on."""
    folder.mkdir(parents=True)
    for table in tables:
        save(AutoSSLART(random_state=0).fit(table.samples, table.labels), folder / f"{table.name}.sslart")
    return folder


def _output(content: bytes, name: str) -> Any:
    found = next(one for one in json.loads(content)["outputs"] if one["name"] == name)
    return np.reshape(found["data"], found["shape"])


def _of_rows(content: bytes) -> Any:
    return [list(one["probabilities"].values()) for one in json.loads(content)["predictions"]]


def _check_same(contenders: dict[str, Contender], tables: Sequence[Table]) -> None:
    """Raise an error where two contenders do not predict the same."""
    for table in tables:
        found = {}
        for name, one in contenders.items():
            http = Http(one.url)
            found[name] = np.array(one.read(http.call(one.call(table, 100), 0)))
            http.close()
        for name, values in found.items():
            difference = np.abs(values - found[OURS]).max()
            if difference > TOLERANCE:
                raise ValueError(f"{name} and {OURS} differ by {difference} for {table.name}: not the same model?")


@contextmanager
def _process(command: Sequence[str], folder: Path, **environment: str) -> Iterator[int]:
    """Run a server with all its workers, in a session of their own; its log goes to a file in the folder."""
    settings = {**os.environ, "OPENBLAS_NUM_THREADS": "1", **environment}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=subprocess.STDOUT, cwd=folder, env=settings, start_new_session=True
        )
    try:
        yield process.pid
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextmanager
def _mlserver(folder: Path, models: Path, n_workers: int) -> Iterator[Contender]:
    """MLServer with its runtime for scikit-learn; as it comes, one worker process computes, another speaks HTTP."""
    python, ports = python_of(MLSERVER), free_ports(3)
    settings = {"debug": False, "host": "127.0.0.1", "parallel_workers": n_workers}
    settings |= dict(zip(("http_port", "grpc_port", "metrics_port"), ports, strict=True))
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text(json.dumps(settings))
    for path in models.glob("*.sslart"):
        own = folder / path.stem
        own.mkdir()
        convert = f"import joblib, sslart; joblib.dump(sslart.load({str(path)!r}), {str(own / 'model.joblib')!r})"
        subprocess.run([str(python), "-c", convert], check=True)
        about = {"name": path.stem, "implementation": "mlserver_sklearn.SKLearnModel"}
        about |= {"parameters": {"uri": "./model.joblib", "version": "v1"}}
        (own / "model-settings.json").write_text(json.dumps(about))
    url = f"http://127.0.0.1:{ports[0]}"
    with _process([str(python.with_name("mlserver")), "start", str(folder)], folder) as pid:
        wait_until(lambda: answers(url, "/v2/health/ready"), "the start of MLServer")
        yield Contender(
            url,
            pid,
            lambda table, n_rows: infer_call(table, n_rows, [PROBABILITIES]),
            lambda content: _output(content, PROBABILITIES),
        )


@contextmanager
def _bentoml(folder: Path, models: Path) -> Iterator[Contender]:
    python, (port,) = python_of(BENTOML), free_ports(1)
    url = f"http://127.0.0.1:{port}"
    folder.mkdir(parents=True)
    command = [str(python.with_name("bentoml")), "serve", "bento_service:Boxes", "--host", "127.0.0.1"]
    command += ["--port", str(port), "--working-dir", str(Path(__file__).parent)]
    with _process(command, folder, MODELS=str(models), BENTOML_DO_NOT_TRACK="true", BENTOML_HOME=str(folder)) as pid:
        wait_until(lambda: answers(url, "/readyz"), "the start of BentoML")
        yield Contender(url, pid, arrays_call, json.loads)


_STARTED: dict[str, Callable[[Path, Path], Any]] = {
    WITHOUT_WORKER: lambda folder, models: _mlserver(folder, models, 0),
    MLSERVER: lambda folder, models: _mlserver(folder, models, 1),
    BENTO: _bentoml,
}
