"""Tables over HTTP: added once for a key, and learnt with the parameters that are given."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from service import application, fit_flowers, flowers


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with application(tmp_path_factory.mktemp("tables") / "store") as found:
        yield found


def test_a_table_that_is_sent_again_with_its_key_is_learnt_once(client: Any) -> None:
    fit_flowers(client)
    table = flowers()[:20].to_csv(index=False).encode()

    def send(content: bytes, key: str) -> Any:
        return client.post(
            "/v1/models/flowers/table", content=content, params={"wait": 60}, headers={"Idempotency-Key": key}
        )

    first, again = send(table, "monday"), send(table, "monday")
    assert first.json()["state"] == "done"
    assert again.json()["sequence"] == first.json()["sequence"]
    assert client.get("/v1/models/flowers").json()["rows"] == 170
    other = send(flowers()[20:40].to_csv(index=False).encode(), "monday")
    assert other.status_code == 409
    assert send(table, "tuesday").json()["outcome"]["rows"] == 190


def test_parameters_of_the_estimator_can_be_given_with_a_table(client: Any, tmp_path: Path) -> None:
    content = flowers().to_csv(index=False).encode()

    def put(name: str, parameters: str) -> Any:
        query = {"label": "species", "wait": 60, "parameters": parameters}
        return client.put(f"/v1/models/{name}", params=query, content=content)

    assert put("coarse", '{"vigilance": 0.5}').json()["outcome"]["boxes"] < 10
    for parameters in ('{"vigilance": 2}', '{"colour": 1}', "[1]", "{"):
        refused = put("none", parameters)
        assert refused.status_code == 422, refused.text
    assert client.get("/v1/models/none").status_code == 404
