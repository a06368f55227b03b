"""Rows are found by the names that a column of their table gives them."""

from __future__ import annotations

from pathlib import Path

from service import application, flowers


def test_rows_of_a_table_are_found_by_the_column_that_names_them(tmp_path: Path) -> None:
    frame = flowers()
    frame["plant"] = [f"P{1000 + row}" for row in range(150)]
    frame.loc[3, "plant"] = "7"  # the number of another row
    with application(tmp_path) as client:
        params = {"label": "species", "id": "plant", "wait": 60}
        client.put("/v1/models/m", params=params, content=frame.to_csv(index=False).encode())
        assert client.get("/v1/models/m/rows/P1142").json()["row"] == 142
        assert client.get("/v1/models/m/rows/7").json()["row"] == 3
        assert client.get("/v1/models/m/rows/8").json()["row"] == 8
        assert client.get("/v1/models/m/rows/P9").status_code == 404
        answer = client.post("/v1/models/m/labels", json={"labels": [{"row": "P1001", "label": "setosa"}]})
        assert answer.json()["rows"] == [1]
