"""The benchmark of the service: small runs of its parts on a real service, without wrk and without peers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
pytest.importorskip("apsw")
pytest.importorskip("httptools")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from serve import endurance, environments, generator, page, peers, states
from serve.calls import CALLS, Call
from serve.data import Table, breast_cancer, synthetic
from serve.load import Generator
from serve.run import options_of
from serve.service import Service, processor_seconds, running
from serve.web import Http

SECONDS = 0.1


@pytest.fixture(scope="module")
def table() -> Table:
    return synthetic(200, 40)


@pytest.fixture(scope="module")
def service(table: Table, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running(tmp_path_factory.mktemp("serve"), [table], *endurance.RETENTION) as service:
        yield service


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_every_kind_of_request_is_answered(service: Service, table: Table, name: str) -> None:
    for n_rows in states.ROWS:
        http, call = Http(service.url), CALLS[name](table, n_rows)
        assert call.n_rows == n_rows
        for number in (0, 1):
            assert http.call(call, number)
        http.close()


@pytest.mark.slow
@pytest.mark.parametrize("state", states.STATES)
def test_a_state_is_measured_with_what_goes_on_meanwhile(
    service: Service, table: Table, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(states, "ROWS", (1,))
    monkeypatch.setattr(states, "CONNECTIONS", (2,))
    (found,) = states.measured(service, table, state, Generator(own=True), SECONDS, ["decide"])
    assert found["failed"] == 0
    assert found["requests"] > 0
    assert 0 < found["p50"] <= found["p99"]
    wanted = {states.IDLE: set(), states.LEARNING: {"learnt"}, states.FITTING: {"fits", "seconds"}}
    assert set(found["others"]) == wanted[state]
    assert all(value > 0 for value in found["others"].values())
    assert service.lag(table.name) == 0


@pytest.mark.slow
def test_the_processor_time_of_a_service_grows_with_the_requests_that_it_answers(
    service: Service, table: Table
) -> None:
    before = processor_seconds(service.process.pid)
    if before is None:
        pytest.skip("this system has no /proc")
    found = Generator(own=True).measure(service.url, CALLS["predict"](table, 100), 2, 0.5)
    after = processor_seconds(service.process.pid)
    assert found["answered"] > 0
    assert after is not None
    assert after > before


@pytest.mark.slow
def test_requests_that_fail_are_counted(service: Service, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("serve.load.N_WARMING", 0)
    found = Generator(own=True).measure(service.url, Call("/v1/models/none/predict", [b"{}"], 1), 1, SECONDS)
    assert found["failed"] > 0


@pytest.mark.slow
def test_an_hour_has_all_kinds_of_requests_and_samples_of_the_memory(
    service: Service, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = tuple((name, n_rows, -(-share // 50)) for name, n_rows, share in endurance.MIXTURE)
    monkeypatch.setattr(endurance, "MIXTURE", few)
    found = endurance.hour(service, table, 800)
    counts, kinds = found["counts"], {name for name, _, _ in few}
    assert counts["rows"] >= 800
    assert counts.keys() == kinds | {"rows", "requests"}
    assert sum(counts[name] for name in kinds) == counts["requests"]
    assert found["milliseconds"].keys() == kinds
    assert 0 < found["events"]["decision"] <= counts["decide"]
    assert found["samples"][-1]["rows"] == counts["rows"]
    assert found["samples"][-1]["mb"] > 10


@pytest.mark.slow
def test_rows_that_are_sent_to_be_learnt_are_learnt_in_the_end(service: Service, table: Table) -> None:
    service.catch_up(table.name)
    before = service.metric("sslart_rows_learnt_total", table.name)
    found = endurance.learnt(service, table, 300)
    assert found["counts"] == {"requests": 3, "rows": 300}
    assert service.metric("sslart_rows_learnt_total", table.name) == before + 300


def test_memory_is_compared_from_when_the_service_was_warm() -> None:
    taken = ((0, 900.0), (19, 800.0), (20, 100.0), (60, 130.0), (100, 110.0))
    samples = [{"rows": rows, "mb": mb} for rows, mb in taken]
    assert endurance.flatness(samples) == {"first": 100.0, "last": 110.0, "most": 130.0}


def test_bodies_come_out_of_their_file_as_they_went_in() -> None:
    bodies = [b"", b"{}", bytes(range(256)), b"1234567890" * 3]
    assert generator.split(generator.joined(bodies)) == bodies


def test_the_tables_are_as_the_page_says() -> None:
    assert (breast_cancer().samples.shape, breast_cancer().n_labels) == ((569, 30), 50)
    made = synthetic()
    assert (made.samples.shape, made.n_labels, len(set(made.classes))) == ((20_000, 20), 500, 3)
    assert len(made.fresh) == len(made.classes)


def test_a_peer_that_is_not_installed_or_could_not_be_is_skipped_with_the_reason(tmp_path: Path) -> None:
    reason = environments.reason_to_skip(environments.MLSERVER, tmp_path)
    assert reason is not None
    assert environments.INSTALL in reason
    (tmp_path / "mlserver-failed.txt").write_text("it could not be installed: no such version")
    assert environments.reason_to_skip(environments.MLSERVER, tmp_path) == "it could not be installed: no such version"


def results() -> dict[str, Any]:
    """Results of a run in which ours answers 300 requests per second, and peers 100 and 150, in two turns."""
    about = vars(options_of([])) | {"machine": "a machine", "label": "1", "generator": "wrk", "load": 0.0}
    about |= {"tables": {"synthetic": "rows"}, "skipped": {peers.BENTO: "it is not there"}, "minutes": 1.0}
    rates = {peers.OURS: 300.0, peers.WITHOUT_WORKER: 100.0, peers.MLSERVER: 150.0}
    costs = {peers.OURS: 0.5, peers.WITHOUT_WORKER: 1.5, peers.MLSERVER: 4.0}
    place = {"table": "synthetic", "failed": 0, "p50": 1.0, "p99": 2.0}
    return {
        "about": about,
        "peers": [
            {**place, "contender": name, "turn": turn, "each": rows, "connections": n}
            | {"requests": rate, "processor": costs[name]}
            for name, rate in rates.items()
            for turn in (0, 1)
            for rows in states.ROWS
            for n in states.CONNECTIONS
        ],
        "states": [
            {**place, "state": states.LEARNING, "call": "learn", "each": 100, "connections": 16, "requests": 20.0}
            | {"rows": 2000.0, "lag": 700.0, "catch_up": 1.5, "others": {"learnt": 1234.0}}
        ],
    }


def test_the_page_compares_with_the_fastest_peer_and_says_which_was_not_measured() -> None:
    text = page.page(results())
    assert text.count("**2.00 times**") == len(states.ROWS) * len(states.CONNECTIONS)
    assert text.count("**3.00 times**") == len(states.ROWS) * len(states.CONNECTIONS)
    assert f"{peers.BENTO} was not measured: it is not there." in text
    assert "| learn | 16 | 2,000 | 1.00 | 2.00 |" in text
    assert "1,234 rows per second accepted" in text
    assert "at most 700 rows were accepted and not yet learnt" in text


def test_the_page_tells_of_requests_that_failed() -> None:
    found = results()
    assert "measurements below: 0." in page.page(found)
    found["states"][0]["failed"] = 3
    assert "measurements below: 3." in page.page(found)
