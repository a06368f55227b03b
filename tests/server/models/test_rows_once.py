"""The rows of a request are converted once: for the prediction, its novelty, and the learner."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from service import application, fit_flowers, flowers, rows_of

from sslart._data.samples import SampleReader, Table
from sslart.server._verify import verify
from sslart.server.models._published import RowReader
from sslart.server.store._journal import Record

ROWS = rows_of(flowers())


@pytest.fixture
def conversions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which each conversion of rows, and each reading of a record, is appended."""
    done: list[str] = []

    def counted(cls: Any, name: str, is_conversion: Any = lambda *_: True) -> None:
        method = getattr(cls, name)

        def replaced(self: Any, *given: Any) -> Any:
            if is_conversion(*given):
                done.append(name)
            return method(self, *given)

        monkeypatch.setattr(cls, name, replaced)

    counted(RowReader, "table")
    counted(RowReader, "samples")
    counted(SampleReader, "read", lambda X: type(X) is not Table)
    counted(Record, "content")
    return done


def sent(client: httpx.Client, path: str, **body: Any) -> Any:
    answer = client.post(f"/v1/models/flowers/{path}", params={"wait": 60}, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("path", ["decide", "learn"])
@pytest.mark.parametrize("is_text", [False, True])
def test_rows_are_converted_once(path: str, is_text: bool, tmp_path: Path, conversions: list[str]) -> None:
    cells = {name: f" {value} " for name, value in ROWS[7].items()} if is_text else ROWS[7]
    with application(tmp_path) as client:
        fit_flowers(client)
        conversions.clear()
        options = {"learn": "all"} if path == "decide" else {}
        sequence = sent(client, path, rows=[cells], **options)["sequence"]
        while client.get("/v1/models/flowers").json()["learnt_through"] < sequence:
            pass
        assert conversions == (["table", "read"] if is_text else ["table"])
    findings = list(verify(tmp_path))
    assert all(one.is_good for one in findings), findings
