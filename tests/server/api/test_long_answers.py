"""Answers that go on for longer than a request may take to come in."""

from __future__ import annotations

import time
from pathlib import Path

from service import application

from sslart.server.models._settings import Limits

SECONDS = 0.2


def test_who_listens_to_events_is_not_cut_off_after_the_time_limit_of_requests(tmp_path: Path) -> None:
    with application(tmp_path, limits=Limits(timeout=SECONDS)) as client, client.stream("GET", "/v1/events") as answer:
        lines = answer.iter_lines()
        assert next(lines).startswith("id: ")
        time.sleep(3 * SECONDS)
        client.post("/v1/models", json={"name": "later"})
        assert any("later" in line for line in lines)
