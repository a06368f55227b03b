"""Save and load: the same model back, or a clear refusal."""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from test_stream import fingerprint

import sslart
from conftest import ALL, name_of
from sslart import SSLART, WESSLART, FuzzyART, persistence
from sslart._art.boxes import NetworkBoxes
from sslart._mapping.model_view import view_of

PREFIX = struct.Struct("<8sIQ")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.sslart"


@pytest.fixture
def saved(path: Path, few_labels: Any) -> Path:
    sslart.save(SSLART(random_state=0).fit(*few_labels), path)
    return path


def fitted_and_loaded(model: Any, X: Any, y: Any, path: Path) -> tuple[Any, Any]:
    model = clone(model).fit(X[:60], y[:60])
    sslart.save(model, path)
    return model, sslart.load(path)


@pytest.mark.parametrize("model", ALL, ids=name_of)
def test_loaded_model_predicts_and_learns_on_as_if_never_saved(model: Any, blobs: Any, path: Path) -> None:
    X, y = blobs
    model, loaded = fitted_and_loaded(model, X, y, path)
    assert type(loaded) is type(model)
    assert fingerprint(loaded) == fingerprint(model)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.score_samples(X), model.score_samples(X))
    for one in (model, loaded):
        one.partial_fit(X[60:] * 1.5, y[60:])
    assert fingerprint(loaded) == fingerprint(model)


def test_everything_a_model_may_hold_comes_back(path: Path) -> None:
    frame = pd.DataFrame({"t": [1.0, 2.0, np.nan, 4.0], "kind": ["a", None, "b", "a"], "on": [True, False, True, True]})
    nan = [np.nan, np.nan]
    bounds = (np.array([0.0, *nan]), [9.0, *nan])
    model = WESSLART(2, bounds=bounds, random_state=np.random.RandomState(4), search_depth=1)
    model.fit(frame, ["x", None, "y", "x"])
    sslart.save(model, path)
    loaded = sslart.load(path)
    assert loaded.feature_names_in_.tolist() == ["t", "kind", "on"]
    assert loaded.coded_feature_names_ == model.coded_feature_names_
    assert loaded.predict(frame).tolist() == model.predict(frame).tolist()
    np.testing.assert_array_equal(loaded.bounds[0], bounds[0])
    assert isinstance(loaded.bounds, tuple)
    # the random state comes back where it was: fitting again goes the same way
    assert fingerprint(loaded.fit(frame, ["x", None, "y", "x"])) == fingerprint(model.fit(frame, ["x", None, "y", "x"]))


@pytest.mark.parametrize("model", ALL, ids=name_of)
def test_loaded_model_takes_further_columns_as_if_never_saved(model: Any, blobs: Any, path: Path) -> None:
    X, y = blobs
    model, loaded = fitted_and_loaded(model, X, y, path)
    wider = np.column_stack([X, X[:, :1] ** 2])
    for one in (model, loaded):
        one.__sslart_add_columns__([False])
        one.partial_fit(wider[60:], y[60:])
    assert fingerprint(loaded) == fingerprint(model)
    np.testing.assert_array_equal(loaded.predict(wider), model.predict(wider))


@pytest.mark.parametrize("labels", [[0, 1, -7], [True, False, True], ["ü", "'", "b"]])
def test_classes_of_every_kind_come_back(labels: list[Any], path: Path) -> None:
    model = SSLART(random_state=0).fit([[1], [5], [9]], labels)
    sslart.save(model, path)
    loaded = sslart.load(path)
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.predict([[1], [5], [9]]).tolist() == labels


def test_members_come_back_with_their_seeds(path: Path, few_labels: Any) -> None:
    model = WESSLART(3, random_state=0).fit(*few_labels)
    sslart.save(model, path)
    seeds = [member.random_state for member in model.estimators_]
    assert [member.random_state for member in sslart.load(path).estimators_] == seeds


def test_unfitted_model_comes_back_with_its_parameters(path: Path) -> None:
    sslart.save(SSLART(0.5, mapping="one-to-one", bounds=([0], [1])), path)
    loaded = sslart.load(path)
    assert loaded.get_params() == SSLART(0.5, mapping="one-to-one", bounds=([0], [1])).get_params()
    assert not hasattr(loaded, "classes_")


def test_only_our_models_are_saved(path: Path) -> None:
    class Mine(FuzzyART):
        pass

    for thing in (Mine(), object(), FuzzyART):
        with pytest.raises(TypeError, match="takes FuzzyART"):
            sslart.save(thing, path)
    with pytest.raises(TypeError, match="cannot write a set"):
        sslart.save(SSLART(bounds={1}), path)
    assert not path.exists()


def test_truncated_file_is_refused(saved: Path) -> None:
    whole = saved.read_bytes()
    for length in [0, 5, 8, 19, 20, 40, 52, 60, len(whole) // 2, len(whole) - 1]:
        saved.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"damaged|not a sslart model"):
            sslart.load(saved)


def test_file_altered_anywhere_is_refused(saved: Path) -> None:
    whole = saved.read_bytes()
    for place in range(0, len(whole), max(1, len(whole) // 300)):
        altered = bytearray(whole)
        altered[place] ^= 1 << (place % 8)
        saved.write_bytes(altered)
        with pytest.raises(ValueError):
            sslart.load(saved)
    saved.write_bytes(whole + b"more")
    with pytest.raises(ValueError, match="damaged"):
        sslart.load(saved)
    saved.write_bytes(whole)
    sslart.load(saved)


def test_foreign_files_are_refused(path: Path) -> None:
    for content in (b"", b"PK\x03\x04", b"\x80\x04}q\x00.", b"{}", os.urandom(200)):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="not a sslart model"):
            sslart.load(path)
    with pytest.raises(FileNotFoundError):
        sslart.load(path.with_name("nowhere"))


def forged(path: Path, change: Any, protocol: int = persistence.PROTOCOL) -> Path:
    """Rewrite a file with a changed header and a checksum that fits."""
    whole = path.read_bytes()
    magic, _, length = PREFIX.unpack(whole[: PREFIX.size])
    start = PREFIX.size + 32
    header = json.loads(whole[start : start + length])
    header = change(header) or header
    body = json.dumps(header).encode()
    body += b" " * (-len(body) % persistence.ALIGNMENT)
    prefix = PREFIX.pack(magic, protocol, len(body))
    rest = body + whole[start + length :]
    path.write_bytes(prefix + hashlib.sha256(prefix + rest).digest() + rest)
    return path


def test_forging_changes_nothing_by_itself(saved: Path) -> None:
    sslart.load(forged(saved, lambda header: header))


@pytest.mark.parametrize("protocol", [0, 2, 41])
def test_other_protocol_is_refused_with_both_numbers_and_the_cure(protocol: int, saved: Path) -> None:
    with pytest.raises(ValueError, match=re.escape(str(saved))) as refusal:
        sslart.load(forged(saved, lambda header: header, protocol=protocol))
    told = f"it has protocol {protocol}, but sslart {sslart.__version__} reads protocol 1. Use the version that wrote"
    assert told in str(refusal.value)


def at(*keys: Any) -> Any:
    """Return a function that sets a place in a header to a value."""

    def setter(value: Any) -> Any:
        def change(header: dict[str, Any]) -> None:
            place: Any = header
            for key in keys[:-1]:
                place = place[key]
            place[keys[-1]] = value

        return change

    return setter


HOSTILE = {
    "object array": at("arrays", 0, "dtype")("|O"),
    "void array": at("arrays", 0, "dtype")("|V8"),
    "no dtype": at("arrays", 0, "dtype")(None),
    "absurd size": at("arrays", 0, "shape")([10**15, 10**3]),
    "negative size": at("arrays", 0, "shape")([-1, 8]),
    "fractional size": at("arrays", 0, "shape")([0.5, 8]),
    "overflowing size": at("arrays", 0, "shape")([2**62, 2**62, 0, 2**62]),
    "sizes that do not add up": at("arrays", 0, "shape")([1, 1]),
    "foreign estimator": at("estimator")("os.system"),
    "path for estimator": at("estimator")("../../evil"),
    "unknown parameter": at("parameters", "evil")(1),
    "array out of reach": at("state", "network", "nodes", "weights")({"$array": 99}),
    "weights that are no array": at("state", "network", "nodes", "weights")("..."),
    "swapped arrays": at("state", "network", "nodes", "weights")({"$array": 3}),
    "stage 1 of nothing": at("state", "network", "nodes", "n_nodes_stage1")(10**9),
    "no state": at("state")([]),
    "features of nowhere": at("state", "network", "features")([[7, None]]),
    "features without end": at("state", "n_features_in")(10**11),
    "names that are no list": at("state", "feature_names_in")("abc"),
    "list for a category": at("state", "network", "features")([[0, None], [1, None], [2, ["x"]]]),
    "category of a number": at("state", "network", "features")([[0, None], [1, None], [2, "x"]]),
    "class without end": at("state", "seen")([10**400, 1, 2]),
    "width of another model": at("state", "n_features_in")(9),
    "names too many": at("state", "feature_names_in")(["a"]),
    "classes too few": at("state", "seen")([0]),
    "classes of no kind": at("state", "seen")([[1], [2], [3]]),
    "classes twice": at("state", "seen")([1, 1, 2]),
    "header a list": lambda header: [header],
}


@pytest.mark.parametrize("trick", HOSTILE)
def test_hostile_file_is_refused(trick: str, saved: Path) -> None:
    with pytest.raises(ValueError, match="model"):
        sslart.load(forged(saved, HOSTILE[trick]))


def test_hostile_random_state_is_refused(path: Path) -> None:
    sslart.save(SSLART(random_state=np.random.RandomState(0)), path)
    forge = at("parameters", "random_state", "$random_state", "state", "pos")
    sslart.load(forged(path, forge(624)))
    with pytest.raises(ValueError, match="random state"):
        sslart.load(forged(path, forge(10**8)))


def test_hostile_weights_are_refused(path: Path, few_labels: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = SSLART(random_state=0).fit(*few_labels)
    weights = view_of(model).members[0].network.nodes.weights
    for value in (np.nan, -0.5, 1.5, 0.1):
        weights[0, 0] = value
        with monkeypatch.context() as changed:
            changed.setattr(NetworkBoxes, "weights", weights)
            sslart.save(model, path)
        with pytest.raises(ValueError, match="no model can have"):
            sslart.load(path)


def test_absurd_size_is_refused_before_memory_is_taken(saved: Path) -> None:
    forged(saved, HOSTILE["absurd size"])
    tracemalloc.start()
    with pytest.raises(ValueError):
        sslart.load(saved)
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()


def test_failed_save_leaves_the_old_file_and_no_litter(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved.read_bytes()

    def full(*_: Any) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        sslart.save(FuzzyART().fit([[1]]), saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_old_file_stays_until_the_new_one_is_complete(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved.read_bytes()
    seen = []

    def watch(written: Path, target: Path) -> None:
        seen.append(saved.read_bytes() == before and sslart.load(written).n_nodes_ == 1)
        raise OSError("the machine stops here")

    monkeypatch.setattr(Path, "replace", watch)
    with pytest.raises(OSError, match="stops here"):
        sslart.save(FuzzyART().fit([[1]]), saved)
    assert seen == [True]
    assert saved.read_bytes() == before


def test_what_is_learnt_while_a_file_is_written_is_not_in_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.RandomState(0)
    model = FuzzyART(0.95, bounds=(0, 1)).partial_fit(random.rand(300, 3))
    before, write = persistence.model_bytes(model), persistence.write_file

    def learning(*arguments: Any) -> None:
        model.partial_fit(random.rand(5, 3))
        write(*arguments)

    monkeypatch.setattr(persistence, "write_file", learning)
    sslart.save(model, path)
    assert path.read_bytes() == before != persistence.model_bytes(model)


def test_save_keeps_the_file_mode_and_follows_links(saved: Path) -> None:
    saved.chmod(0o640)
    link = saved.with_name("link")
    link.symlink_to(saved)
    sslart.save(FuzzyART().fit([[1]]), link)
    assert link.is_symlink()
    assert saved.stat().st_mode & 0o777 == 0o640
    assert isinstance(sslart.load(saved), FuzzyART)


@pytest.mark.slow
def test_killed_saver_leaves_a_whole_file(saved: Path) -> None:
    program = (
        "import sys, numpy as np, sslart\n"
        "model = sslart.FuzzyART(1.0).fit(np.random.rand(20000, 8))\n"
        "print('ready', flush=True)\n"
        "while True: sslart.save(model, sys.argv[1])\n"
    )
    for delay in np.linspace(0.0, 0.3, 10):
        saver = subprocess.Popen([sys.executable, "-c", program, saved], stdout=subprocess.PIPE)
        assert saver.stdout.readline() == b"ready\n"
        try:
            saver.wait(delay)
        except subprocess.TimeoutExpired:
            saver.kill()
        saver.wait()
        saver.stdout.close()
        sslart.load(saved)


@pytest.mark.parametrize("costs", [{(0, 2): 3.5, (np.int64(1), 0): 2}, [[0, 1, 2], [1, 0, 1], [5, 1, 0]], "balanced"])
def test_costs_are_saved_whatever_their_kind(costs: Any, few_labels: Any, path: Path) -> None:
    model = SSLART(random_state=0, decision_costs=costs).fit(*few_labels)
    sslart.save(model, path)
    loaded = sslart.load(path)
    assert loaded.decision_costs == costs
    assert (loaded.predict(few_labels[0]) == model.predict(few_labels[0])).all()


@pytest.mark.parametrize("seed", [-5, 2**32, 2**40])
def test_a_seed_that_a_file_cannot_hold_is_refused_before_anything_is_learnt(seed: int) -> None:
    model = SSLART(mapping="evidence", shuffle=False, random_state=seed)
    with pytest.raises(ValueError, match=r"random_state must be from 0 to 2\*\*32 - 1"):
        model.fit([[0.0], [1.0]], [0, 1])
    assert not hasattr(model, "classes_")
