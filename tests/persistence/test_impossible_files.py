"""Files with a right checksum that no model can have made: refused, or a model that works and can be saved again."""

from __future__ import annotations

import functools
import resource
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest
from mutants import ModelFile, mutant_of, write_raw
from saved_models import MODELS, NAMES, SLOW, saved, verdict_on

import sslart
from sslart import SSLART, FuzzyART, persistence

QUICK = [name for name in MODELS if name not in SLOW]
N_MUTANTS = 10_000
N_PARTS = 20
MAX_SECONDS = 20.0  # of processor time, for one file
MAX_MEMORY = 500 * 2**20


class Seed(NamedTuple):
    """A file to change, what it is when it is loaded and saved, and samples."""

    file: ModelFile
    saved: bytes
    X: Any
    y: Any


@functools.cache
def seed_of(name: str) -> Seed:
    with tempfile.TemporaryDirectory() as folder:
        content, X, y = saved(name, Path(folder))
        path = Path(folder) / "model.sslart"
        path.write_bytes(content)
        sslart.save(sslart.load(path), path)
        return Seed(ModelFile.read(content), path.read_bytes(), X, y)


def write(path: Path, file: ModelFile) -> Path:
    path.write_bytes(file.to_bytes())
    return path


def check_mutants(names: list[str], n: int, seed: int, path: Path) -> int:
    """Check so many files; return how many are accepted."""
    random, accepted = Random(seed), 0
    for number in range(n):
        name = names[(seed + number) % len(names)]
        file, saved, X, y = seed_of(name)
        mutant, changes = mutant_of(file, random)
        write(path, mutant)
        start = time.process_time()
        try:
            accepted += verdict_on(path, X, y, same=saved, thorough=number % 5 == 0) != "refused"
        except Exception as error:
            raise AssertionError(f"{name}, with {changes}") from error
        assert time.process_time() - start < MAX_SECONDS, f"{name}, with {changes}"
    return accepted


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.sslart"


def test_every_file_that_is_changed_here_is_a_model_before(path: Path) -> None:
    for name in QUICK:
        file, saved, X, y = seed_of(name)
        assert verdict_on(write(path, file), X, y, same=saved) == "accepted, the same", name


def test_a_changed_file_is_refused_or_a_model_that_works(path: Path) -> None:
    assert 0 < check_mutants(QUICK, 60, 0, path) < 30


@pytest.mark.stress
@pytest.mark.parametrize("part", range(N_PARTS))
def test_ten_thousand_changed_files_are_refused_or_models_that_work(part: int, path: Path) -> None:
    for name in NAMES:
        seed_of(name)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    accepted = check_mutants(NAMES, N_MUTANTS // N_PARTS, 1 + part, path)
    assert 0 < accepted < N_MUTANTS // N_PARTS / 2
    assert 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) < MAX_MEMORY


def changed(name: str, change: Any) -> ModelFile:
    file = seed_of(name).file.copy()
    change(file)
    return file


def array(*keys: str) -> Any:
    """Return a function that sets an element of an array of a state."""

    def setting(place: Any, value: Any) -> Any:
        def change(file: ModelFile) -> None:
            found: Any = file.header["state"]
            for key in keys:
                found = found[key]
            file.arrays[found["$array"]][place] = value

        return change

    return setting


def solution(*keys: str) -> Any:
    return array("evidence", "solution", *keys)


def term_of(file: ModelFile, kind: str) -> Any:
    """Return the first term of a kind."""
    terms = file.header["state"]["evidence"]["solution"]["readout"]["terms"]
    return next(one for one in terms if one["kind"] == kind)


def term(kind: str, *keys: str) -> Any:
    """Return a function that sets an element of an array of a term."""

    def setting(place: Any, value: Any) -> Any:
        def change(file: ModelFile) -> None:
            found = term_of(file, kind)
            for key in keys:
                found = found[key]
            file.arrays[found["$array"]][place] = value

        return change

    return setting


def set_term(kind: str, key: str, value: Any) -> Any:
    return lambda file: term_of(file, kind).update({key: value})


def inverses(place: Any, value: Any) -> Any:
    def change(file: ModelFile) -> None:
        number = file.header["state"]["evidence"]["updates"]["recursions"][0]["inverses"]["$array"]
        file.arrays[number][place] = value

    return change


def set_to(*keys: Any) -> Any:
    *holders, last, value = keys

    def change(file: ModelFile) -> None:
        holder: Any = file.header
        for key in holders:
            holder = holder[key]
        holder[last] = value

    return change


def set_state(*keys: Any) -> Any:
    return set_to("state", *keys)


lower, upper = array("network", "lower"), array("network", "upper")
weights, support = array("network", "nodes", "weights"), array("network", "nodes", "support")
counts = array("network", "nodes", "counts")

IMPOSSIBLE = {
    "a range whose upper end is below the lower one": ("clusters", upper(0, -1e9)),
    "a range without end": ("clusters", upper(0, np.inf)),
    "a range from minus infinity": ("clusters", lower(0, -np.inf)),
    "a range from infinity to infinity": ("clusters", lower(0, np.inf)),
    "a range wider than numbers are": ("clusters", lambda file: (lower(0, -1.7e308)(file), upper(0, 1.7e308)(file))),
    "a range that is not a number": ("clusters", lower(0, np.nan)),
    "the range of a category": ("one-to-many", upper(-1, 2.0)),
    "no range where boxes have values": ("clusters", lambda file: (lower(0, np.inf)(file), upper(0, -np.inf)(file))),
    "a box with its upper corner below the lower one": ("clusters", weights((0, 0), 1.0)),
    "a box in no feature": ("clusters", weights(0, 1.0)),
    "a box off the grid": ("clusters", weights((0, 0), 0.1)),
    "a box of more samples than can be counted": ("clusters", support(0, 2**53 + 1)),
    "more samples than can be counted in sum": ("clusters", support(slice(None), 2**52 + 1)),
    "a box of no samples": ("clusters", support(0, 0)),
    "more labels than samples": ("artmap", counts((0, 0), 2**40)),
    "a sum of labels that overflows": ("artmap", counts(0, 2**62)),
    "a class without a label": ("artmap", counts((slice(None), 0), 0)),
    "a label of infinite weight": ("evidence", array("evidence", "reservoir", "weights")(0, np.inf)),
    "a label of a weight whose square is no number": ("evidence", array("evidence", "reservoir", "weights")(0, 1e200)),
    "a label of a class that is none": ("evidence", array("evidence", "reservoir", "codes")(0, 3)),
    "labels that come twice": ("evidence", array("evidence", "reservoir", "numbers")(1, 0)),
    "a label later than all samples": ("evidence", array("evidence", "reservoir", "times")(0, 2**40)),
    "a left-out label that is not kept": ("evidence", solution("rows")(-1, 99)),
    "left-out labels that come twice": ("evidence", solution("rows")(1, 0)),
    "a left-out label of another class": ("evidence", solution("classes")(0, 1)),
    "a left-out label in a group of its own name": ("evidence", solution("groups")(0, 17)),
    "a left-out label without a score": ("evidence", solution("left_out")((0, 0), np.nan)),
    "a class that counts less than nothing": ("evidence", solution("class_factors")(0, -1.0)),
    "a bias without end": ("evidence", solution("readout", "bias")(0, np.inf)),
    "a node that is none": ("evidence", solution("readout", "nodes")(0, 10**6)),
    "a node twice": ("evidence", solution("readout", "nodes")(slice(None), 0)),
    "ranks that fall": ("evidence", solution("readout", "ranks", "values")(1, 0.0)),
    "ranks off the grid": ("evidence", solution("readout", "ranks", "values")(1, 1e-300)),
    "ranks of no feature": ("evidence", solution("readout", "ranks", "offsets")(1, 1)),
    "a weight that is no number": ("evidence", term("boxes", "weights")((0, 0, 0), np.nan)),
    "a weight whose sums are no numbers": ("evidence", term("boxes", "weights")((0, 0, 0), 1e31)),
    "a feature that is none": ("evidence", term("boxes", "group", "features")(-1, 9)),
    "a feature twice": ("evidence", term("boxes", "group", "features")(1, 0)),
    "a box of the regression that is none": ("evidence", term("boxes", "group", "boxes")(-1, 10**6)),
    "a box of the regression outside": ("evidence", term("boxes", "group", "lower")((0, 0), -1.0)),
    "a slope without end": ("evidence", term("linear", "slopes")((0, 0), -np.inf)),
    "a tree that splits by a feature that is none": ("every family", term("trees", "features")(0, 9)),
    "a tree with a leaf too few": ("every family", term("trees", "features")(0, 0)),
    "a tree with a leaf of no values": ("every family", term("trees", "leaves")(0, 255)),
    "a tree whose leaf has no number": ("every family", term("trees", "values")(0, np.nan)),
    "a tree that splits nowhere": ("every family", term("trees", "thresholds")(0, np.nan)),
    "a tree of which more than all goes left": ("every family", term("trees", "shares")(0, 1.5)),
    "trees in a ring": ("every family", set_term("trees", "n_trees", 1)),
    "updates of a matrix that is not symmetric": ("half-lives that compete", inverses((0, 0, 1), 7.0)),
    "updates of a matrix with a diagonal below 0": ("half-lives that compete", inverses((0, 0, 0), -1.0)),
    "updates after the last sample": ("half-lives that compete", set_state("evidence", "updates", "time", 10**6)),
    "updates that are missing": ("half-lives that compete", set_state("evidence", "updates", None)),
    "a solution that is missing": ("evidence", set_state("evidence", "solution", None)),
    "a term of no kind": ("evidence", set_term("boxes", "kind", "circles")),
    "a box that is wider than it may be": ("evidence", set_term("boxes", "bandwidth", 1e9)),
    "a temperature below 0": ("evidence", set_state("evidence", "solution", "readout", "inverse_temperature", -1.0)),
    "labels of members of which some have no number": (
        "votes without samples",
        set_state("members", 0, "evidence", "reservoir", "numbers", None),
    ),
    "left-out labels that nothing measures": (
        "a stream without samples",
        set_state("evidence", "settled", None),
    ),
    "more labels kept than there were": (
        "evidence without samples",
        set_state("evidence", "reservoir", "n_kept", 10**6),
    ),
    "fits that fall": ("evidence without samples", array("novelty", "familiarity")(0, 1.0)),
    "a fit better than perfect": ("clusters", array("novelty", "familiarity")(0, 1.5)),
    "the fit of a box that is none": ("clusters", array("novelty", "boxes")(0, 99)),
    "more right votes than votes": ("votes", array("successes")((0, 0), 10**6)),
}


@pytest.mark.parametrize("trick", IMPOSSIBLE)
def test_what_cannot_be_is_refused_whatever_the_checksum(trick: str, path: Path) -> None:
    name, change = IMPOSSIBLE[trick]
    with pytest.raises(ValueError, match="is not a valid sslart model"):
        sslart.load(write(path, changed(name, change)))


NESTED: Any = functools.reduce(lambda inner, _: [inner], range(99), 1)
UNREADABLE = {
    "an array counted from the end": ("artmap", set_to("state", "network", "lower", {"$array": -1})),
    "an array that is taken twice": ("artmap", set_to("state", "network", "lower", {"$array": 1})),
    "an unused array": ("artmap", set_to("state", "novelty", None)),
    "a number of another notation": ("artmap", set_to("parameters", "vigilance", {"$float": "0.5"})),
    "two notations at once": ("artmap", set_to("parameters", "vigilance", {"$float": "inf", "$tuple": []})),
    "lists in lists without end": ("artmap", set_to("parameters", "vigilance", NESTED)),
    "a key twice": ("artmap", set_to("parameters", "bounds", {"$dict": [[1, 2], [1, 3]]})),
    "members of other columns": ("votes", set_to("state", "members", 0, "n_features_in", 2)),
    "members of other names": ("votes", set_to("state", "members", 0, "feature_names_in", None)),
    "a member without a seed": ("votes", set_to("state", "members", 0, "seed", "x")),
    "a class with a NUL at its end": ("one-to-many", set_to("state", "seen", 0, "large\0")),
}  # fmt: skip


@pytest.mark.parametrize("trick", UNREADABLE)
def test_what_cannot_be_read_is_refused_whatever_the_checksum(trick: str, path: Path) -> None:
    name, change = UNREADABLE[trick]
    with pytest.raises(ValueError, match="is not a valid sslart model"):
        sslart.load(write(path, changed(name, change)))


def test_header_of_many_bytes_is_refused_before_it_is_read(path: Path) -> None:
    path.write_bytes(persistence._PREFIX.pack(persistence._MAGIC, 1, persistence.MAX_HEADER + 1) + bytes(32))
    with pytest.raises(ValueError, match=r"header has 268,435,457 bytes, more than the limit of 268,435,456"):
        sslart.load(path)


def test_model_whose_header_could_not_be_read_is_not_saved(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(persistence, "MAX_HEADER", 600)
    sslart.save(FuzzyART(), path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="leave out columns with very many categories"):
        sslart.save(MODELS["stream"][0](), path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "header", [b"[" * 200_000, b'{"a":' * 200_000, b"{" + b" " * 9, b'{"a": NaN}', b"[1]", b"\xff"]
)
def test_header_that_is_not_an_object_is_refused(header: bytes, path: Path) -> None:
    with pytest.raises(ValueError, match="is not a sslart model: its header is"):
        sslart.load(write_raw(path, header))


def test_parameters_with_keys_like_our_notation_come_back(path: Path) -> None:
    weights = {"$array": 2.0, "$tuple": 1.0}
    sslart.save(SSLART(decision_costs=weights), path)
    assert sslart.load(path).decision_costs == weights
    with pytest.raises(ValueError, match="nested more than 64 levels"):
        sslart.save(SSLART(bounds=NESTED), path)
