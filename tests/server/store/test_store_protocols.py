"""A store that an earlier sslart has written is brought up to date, all of it or nothing."""

from __future__ import annotations

from pathlib import Path

import apsw
from service import application, fit_flowers

from sslart.server.store._store import FILE_NAME


def test_a_store_of_the_first_protocol_keeps_its_models_and_takes_properties(tmp_path: Path) -> None:
    with application(tmp_path) as client:
        fit_flowers(client)
        digest = client.get("/v1/models/flowers/state").json()["digest"]
    connection = apsw.Connection(str(tmp_path / FILE_NAME))
    connection.execute("ALTER TABLE labels DROP COLUMN together")  # what the third protocol has added
    connection.execute("DROP TABLE properties")  # and the second
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    with application(tmp_path) as client:
        assert client.get("/v1/models/flowers/state").json()["digest"] == digest
        assert client.get("/v1/models/flowers/properties").json()["properties"] == {}
        assert client.put("/v1/models/flowers/properties/classes", json=["a"]).status_code == 200
    connection = apsw.Connection(str(tmp_path / FILE_NAME))
    assert connection.execute("PRAGMA user_version").get == 3
    connection.close()


def test_deleting_a_model_deletes_its_properties(tmp_path: Path) -> None:
    with application(tmp_path) as client:
        fit_flowers(client)
        client.put("/v1/models/flowers/properties/classes", json=["a"])
        assert client.delete("/v1/models/flowers").status_code == 204
        fit_flowers(client)
        assert client.get("/v1/models/flowers/properties").json()["properties"] == {}
