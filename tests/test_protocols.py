"""Files that earlier versions have saved are read by this one, and newer ones are refused."""

from __future__ import annotations

import copy
import hashlib
import json
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import sslart

FOLDER = Path(__file__).parent / "data" / "protocol1"
EXPECTED: dict[str, dict[str, Any]] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
RENAMED = {"width": "bandwidth", "rank_share": "rank_weight", "label_memory": "max_labels"}
PREFIX = struct.Struct("<8sIQ")
DIGEST_SIZE = 32
FITTED = [name for name, entry in EXPECTED.items() if entry["answers"] is not None]
# Evidence is summed in single precision, which the compiled kernel and NumPy round differently.
CLOSE = 2e-5

every_file = pytest.mark.parametrize("name", EXPECTED)
every_fitted_file = pytest.mark.parametrize("name", FITTED)


def loaded(name: str) -> Any:
    return sslart.load(FOLDER / f"{name}.sslart")


def samples_of(entry: dict[str, Any]) -> Any:
    """Return the samples that a file of expectations lists: a frame if they have names."""
    columns, rows = entry["samples"]["columns"], entry["samples"]["rows"]
    if columns is None:
        return np.array(rows, dtype=np.float64)
    return pd.DataFrame(rows, columns=columns)


def plain(value: Any) -> Any:
    """Return the value of a parameter as the expectations have it."""
    if isinstance(value, np.random.RandomState):
        return {"next numbers": copy.deepcopy(value).randint(1000, size=5).tolist()}
    if isinstance(value, np.ndarray):
        return {"array": plain(value.tolist())}
    if isinstance(value, tuple):
        return {"tuple": [plain(one) for one in value]}
    if isinstance(value, list):
        return [plain(one) for one in value]
    return value


def parameters_of(model: Any) -> dict[str, Any]:
    return {name: plain(value) for name, value in model.get_params().items()}


def expected_parameters(entry: dict[str, Any], cls: Any) -> dict[str, Any]:
    """Return the parameters that a file was saved with, by their present names, and the defaults of later ones."""
    present = parameters_of(cls())
    present |= {"max_nodes": None} if "max_nodes" in present else {}  # the boxes of earlier versions had no limit
    stored = entry["parameters"].items()
    return present | {key if key in present else RENAMED.get(key, key): value for key, value in stored}


def floats(values: Any) -> Any:
    """Return floats that were written as hexadecimal text, in an array."""
    return np.array([floats(one) for one in values] if isinstance(values, list) else float.fromhex(values))


def check_predictions(model: Any, recorded: dict[str, Any], X: Any) -> None:
    """Check that a model predicts as recorded: exactly, and with evidence mapping closely."""
    assert model.n_nodes_ == recorded["n_nodes"]
    np.testing.assert_array_equal(model.score_samples(X), floats(recorded["score_samples"]))
    if "classes" in recorded:
        assert [(type(one), one) for one in model.classes_.tolist()] == [
            (type(one), one) for one in recorded["classes"]
        ]
    if "predict" in recorded:
        predicted = model.predict(X).tolist()
        assert [(type(one), one) for one in predicted] == [(type(one), one) for one in recorded["predict"]]
    if "predict_proba" in recorded:
        probabilities, wanted = model.predict_proba(X), floats(recorded["predict_proba"])
        if getattr(model, "mapping", None) == "evidence":
            np.testing.assert_allclose(probabilities, wanted, rtol=0, atol=CLOSE)
        else:
            np.testing.assert_array_equal(probabilities, wanted)


def check_learnt(model: Any, entry: dict[str, Any]) -> None:
    """Let a model learn on, and check its predictions.

    With evidence mapping, a model that had learnt nothing predicts as this version does: exactly what a new model of
    the same parameters predicts.
    """
    learnt, X, recorded = entry["learnt"], samples_of(entry), entry["learnt"]["answers"]
    is_new = entry["answers"] is None and getattr(model, "mapping", None) == "evidence"
    new = clone(model) if is_new else None
    model.partial_fit(samples_of(learnt), learnt["labels"])
    if new is not None:
        new.partial_fit(samples_of(learnt), learnt["labels"])
        np.testing.assert_array_equal(model.predict_proba(X), new.predict_proba(X))
        np.testing.assert_array_equal(model.predict(X), new.predict(X))
        recorded = {name: value for name, value in recorded.items() if name not in ("predict", "predict_proba")}
    check_predictions(model, recorded, X)


def protocol_of(path: Path) -> int:
    number: int = PREFIX.unpack(path.read_bytes()[: PREFIX.size])[1]
    return number


def with_protocol(source: Path, target: Path, protocol: int) -> Path:
    """Copy a file with another protocol number and a checksum that fits."""
    whole = source.read_bytes()
    magic, _, length = PREFIX.unpack(whole[: PREFIX.size])
    prefix, rest = PREFIX.pack(magic, protocol, length), whole[PREFIX.size + DIGEST_SIZE :]
    target.write_bytes(prefix + hashlib.sha256(prefix + rest).digest() + rest)
    return target


def test_each_file_has_an_expectation_and_each_expectation_a_file() -> None:
    assert {path.stem for path in FOLDER.glob("*.sslart")} == EXPECTED.keys()


def test_the_files_hold_every_estimator_and_every_mapping() -> None:
    kinds = {(entry["estimator"], entry["parameters"].get("mapping")) for entry in EXPECTED.values()}
    mappings = ("one-to-many", "one-to-one", "evidence")
    wanted = {(estimator, mapping) for estimator in ("SSLART", "WESSLART") for mapping in mappings}
    assert kinds == wanted | {(estimator, None) for estimator in ("FuzzyART", "FuzzyARTMAP", "AutoSSLART")}


@every_file
def test_the_file_is_of_the_first_protocol(name: str) -> None:
    assert protocol_of(FOLDER / f"{name}.sslart") == 1


@every_file
def test_an_old_file_loads_with_its_estimator_and_parameters(name: str) -> None:
    model, entry = loaded(name), EXPECTED[name]
    assert type(model).__name__ == entry["estimator"]
    assert parameters_of(model) == expected_parameters(entry, type(model))
    assert model.__sklearn_is_fitted__() is (entry["answers"] is not None)


@every_fitted_file
def test_a_model_of_an_old_file_predicts_as_when_it_was_saved(name: str) -> None:
    entry = EXPECTED[name]
    check_predictions(loaded(name), entry["answers"], samples_of(entry))


@every_file
def test_a_model_of_an_old_file_learns_on_as_when_it_was_saved(name: str) -> None:
    check_learnt(loaded(name), EXPECTED[name])


@every_file
def test_a_model_of_an_old_file_is_the_same_after_it_is_saved_again(name: str, tmp_path: Path) -> None:
    model, entry, path = loaded(name), EXPECTED[name], tmp_path / "again.sslart"
    sslart.save(model, path)
    again: Any = sslart.load(path)
    assert type(again) is type(model)
    assert parameters_of(again) == expected_parameters(entry, type(model))
    if entry["answers"] is not None:
        check_predictions(again, entry["answers"], samples_of(entry))
    check_learnt(again, entry)


def test_a_copy_with_its_own_protocol_number_loads(tmp_path: Path) -> None:
    model: Any = sslart.load(with_protocol(FOLDER / "auto.sslart", tmp_path / "copy.sslart", 1))
    check_predictions(model, EXPECTED["auto"]["answers"], samples_of(EXPECTED["auto"]))


@pytest.mark.parametrize("name", ["auto", "votes", "unfitted"])
@pytest.mark.parametrize("ahead", [1, 41])
def test_a_newer_protocol_is_refused_with_both_numbers(name: str, ahead: int, tmp_path: Path) -> None:
    present = tmp_path / "present.sslart"
    sslart.save(loaded(name), present)
    newest = protocol_of(present)
    path = with_protocol(present, tmp_path / "newer.sslart", newest + ahead)
    with pytest.raises(ValueError, match=re.escape(str(path))) as refusal:
        sslart.load(path)
    rest = str(refusal.value).replace(str(path), "")
    assert f"it has protocol {newest + ahead}, and sslart {sslart.__version__} reads protocols up to {newest}." in rest


def test_a_protocol_that_never_was_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no protocol 0"):
        sslart.load(with_protocol(FOLDER / "auto.sslart", tmp_path / "older.sslart", 0))


def test_contents_of_the_present_protocol_are_no_older_file(tmp_path: Path) -> None:
    sslart.save(loaded("auto"), tmp_path / "present.sslart")
    with pytest.raises(ValueError, match="is not a valid sslart model"):
        sslart.load(with_protocol(tmp_path / "present.sslart", tmp_path / "older.sslart", 1))
