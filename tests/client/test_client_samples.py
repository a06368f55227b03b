"""All samples of a model, what to label next, and what people keep with a model: by the client."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from service import flowers

from sslart.client import Client, WrongRequestError
from sslart.server import serve

LABELS = flowers(1)["species"].tolist()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with serve(tmp_path_factory.mktemp("store")) as service, Client(service.url) as found:
        found.fit("flowers", flowers(), label="species")
        yield found


def test_values_of_all_samples_are_arrays(client: Client) -> None:
    about = client.samples("flowers")
    model, X = client.load("flowers"), flowers().drop(columns="species")
    assert np.array_equal(np.array(about["classes"])[client.values("flowers", "class")], model.predict(X))
    assert client.values("flowers", "position").shape == (150, 2)
    assert np.allclose(client.values("flowers", "feature", feature="petal_width"), X["petal_width"])
    with pytest.raises(WrongRequestError, match="There is no feature 'nothing'"):
        client.values("flowers", "feature", feature="nothing")


def test_boxes_and_searches(client: Client) -> None:
    first = client.boxes("flowers")[0]
    assert client.box("flowers", first["box"])["n"] == first["n"]
    assert client.boxes("flowers", "petal_length", "petal_width")[0]["n"] == first["n"]
    found = client.search("flowers", box=first["box"], numbers=True)
    assert found["total"] == first["n"]
    assert len(found["numbers"]) == first["n"]


def test_questions_are_answered_by_people(client: Client) -> None:
    (question,) = client.questions("flowers", 1)
    row = question["row"]
    assert client.questions("flowers", 1, skip=[row])[0]["row"] != row
    client.label("flowers", {row: LABELS[row]}, by="Anna", wait=30)
    client.label("flowers", {row: "another"}, by="Ben", refit=True, wait=30)
    (found,) = client.disagreements("flowers")
    assert found["row"] == row
    assert client.labels("flowers", row=row)[-1]["actor"] == "Ben"
    assert client.quality("flowers", target=None)["needed"] is None
    assert client.quality("flowers", target=0.8)["target"] == 0.8


def test_properties_are_kept(client: Client) -> None:
    client.set_property("flowers", "classes", ["a", "b"])
    assert client.properties("flowers") == {"classes": ["a", "b"]}
    client.set_property("flowers", "classes", None)
    assert client.properties("flowers") == {}
