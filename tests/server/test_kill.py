"""A service that is killed at any moment, under load, and started again on the same folder."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from durability import Client, Ledger, Target, check_kept, create_models, replayed, wait_until_learnt
from forked import Forks
from service import application

from sslart.cli import main

N_CLIENTS = 3
SECONDS_FOR_PROGRESS = 60


@pytest.mark.parametrize("n_kills", [1, pytest.param(200, marks=pytest.mark.slow)])
def test_all_that_was_acknowledged_is_there_once_however_often_the_service_is_killed(
    tmp_path: Path, n_kills: int
) -> None:
    folder, chance = tmp_path / "store", random.Random(n_kills)
    ledger, target = Ledger(), Target()
    share = 5 / n_kills  # of fits, which take longer with more rows
    clients = [Client(f"client{number}", f"{n_kills} {number}", ledger, target, share) for number in range(N_CLIENTS)]
    with Forks() as forks:
        service = forks.start(folder, snapshot_rows=40)
        try:
            assert create_models(service.url, ledger, chance)
            for client in clients:
                client.start()
            for _ in range(n_kills):
                target.url = service.url
                if chance.random() < 0.8:  # else it is killed while it starts
                    wait_for_progress(ledger, chance.randrange(1, 40))
                time.sleep(chance.random() * 0.1)
                service.kill()
                target.url = None
                service = forks.start(folder, snapshot_rows=40)
            target.url = service.url
            wait_for_progress(ledger, 20)
        finally:
            target.is_over.set()
            for client in clients:
                if client.ident is not None:
                    client.join()
            service.kill()
    with application(folder) as http:
        states = wait_until_learnt(http)
        check_kept(http, folder, ledger)
    assert replayed(folder, tmp_path / "replayed") == states
    assert main(["serve", str(folder), "--verify"]) == 0


def wait_for_progress(ledger: Ledger, n_requests: int) -> None:
    """Wait until so many more requests are acknowledged."""
    wanted, end = ledger.n_acknowledged + n_requests, time.monotonic() + SECONDS_FOR_PROGRESS
    while ledger.n_acknowledged < wanted:
        assert ledger.problems == []
        assert time.monotonic() < end, "the service acknowledges nothing"
        time.sleep(0.005)
