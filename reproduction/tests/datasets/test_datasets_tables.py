"""Tables have the promised counts and classes, and are the same from UCI's format as from the copies with a header."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reproduction import datasets
from reproduction.datasets.catalogue import SOURCES
from reproduction.datasets.read import read_cells, read_text, to_numbers, without_header
from reproduction.tests import DATA, needs_data
from sslart import SSLART

TABLES = {
    "australian": (690, 14, {"negative": 383, "positive": 307}),
    "bupa": (345, 6, {"1": 145, "2": 200}),
    "german": (1000, 24, {"bad": 300, "good": 700}),
    "haberman": (306, 3, {"died": 81, "survived": 225}),
    "heart_cleveland": (303, 13, {"absence": 164, "presence": 139}),
    "ionosphere": (351, 34, {"bad": 126, "good": 225}),
    "kr_vs_kp": (3196, 36, {"nowin": 1527, "won": 1669}),
    "mammographic": (961, 5, {"benign": 516, "malignant": 445}),
    "pima": (768, 8, {"negative": 500, "positive": 268}),
    "seeds": (210, 7, {"Canadian": 70, "Kama": 70, "Rosa": 70}),
    "zoo": (
        101,
        16,
        {
            "amphibian": 4,
            "bird": 20,
            "fish": 13,
            "insect": 8,
            "invertebrate": 10,
            "mammal": 41,
            "reptile": 5,
        },
    ),
}
SHIPPED = {
    "wdbc": (569, 30, {"benign": 357, "malignant": 212}),
    "wine": (178, 13, {"class_0": 59, "class_1": 71, "class_2": 48}),
    "iris": (150, 4, {"setosa": 50, "versicolor": 50, "virginica": 50}),
}


def loader(name: str) -> Any:
    return getattr(datasets, f"load_{name}")


def counts(target: Any) -> dict[str, int]:
    classes, sizes = np.unique(np.asarray(target, dtype=str), return_counts=True)
    return dict(zip(classes.tolist(), sizes.tolist(), strict=True))


@needs_data
@pytest.mark.parametrize("name", TABLES)
def test_counts_and_classes(name: str) -> None:
    n_samples, n_features, classes = TABLES[name]
    bunch = loader(name)()
    assert bunch.data.shape == (n_samples, n_features)
    assert counts(bunch.target) == classes
    assert sorted(bunch.target_names) == sorted(classes)
    assert len(bunch.feature_names) == n_features
    assert bunch.source == "SSLART_DATA"
    assert all(Path(file).is_file() for file in bunch.filename)
    assert SOURCES[name].title in bunch.DESCR


@pytest.mark.parametrize("name", SHIPPED)
def test_counts_and_classes_of_what_scikit_learn_ships(name: str) -> None:
    n_samples, n_features, classes = SHIPPED[name]
    bunch = loader(name)()
    assert bunch.data.shape == (n_samples, n_features)
    assert bunch.data.dtype == np.float64
    assert counts(bunch.target) == classes
    assert bunch.source == "scikit-learn"
    assert bunch.filename is None
    assert bunch.frame is None


@pytest.mark.parametrize("name", SHIPPED)
def test_frames_and_pairs_hold_the_same(name: str) -> None:
    bunch = loader(name)()
    X, y = loader(name)(return_X_y=True)
    assert np.array_equal(X, bunch.data)
    assert np.array_equal(y, bunch.target)
    framed = loader(name)(as_frame=True)
    assert list(framed.frame.columns) == [*bunch.feature_names, "target"]
    assert np.array_equal(framed.data.to_numpy(), X)
    assert framed.target.tolist() == y.tolist()


@needs_data
def test_iris_is_fishers_and_not_ucis() -> None:
    iris = datasets.load_iris()
    rows = read_cells(read_text(Path(DATA, "iris", "iris.csv")))
    uci = to_numbers([row[:-1] for row in rows], 4)
    assert np.flatnonzero((uci != iris.data).any(axis=1)).tolist() == [34, 37]
    assert "Fisher" in iris.DESCR


@needs_data
def test_missing_values_stay_missing() -> None:
    heart = datasets.load_heart_cleveland(as_frame=True)
    assert heart.data.columns[np.isnan(heart.data).any()].tolist() == ["ca", "thal"]
    assert np.isnan(heart.data.to_numpy()).sum() == 6
    mammographic = datasets.load_mammographic().data
    assert np.isnan(mammographic).sum() == 162
    assert np.isnan(mammographic).any(axis=1).sum() == 131


@needs_data
def test_zeros_of_pima_become_missing_only_when_asked_for() -> None:
    plain = datasets.load_pima().data
    marked = datasets.load_pima(zeros_as_missing=True).data
    assert not np.isnan(plain).any()
    assert np.isnan(marked).sum(axis=0).tolist() == [0, 5, 35, 227, 374, 11, 0, 0]
    assert np.array_equal(np.nan_to_num(marked), plain)


@needs_data
def test_nominal_features_are_categories_that_a_model_takes() -> None:
    chess = datasets.load_kr_vs_kp()
    assert {str(dtype) for dtype in chess.data.dtypes} == {"category"}
    assert sorted(chess.data["katri"].cat.categories) == ["b", "n", "w"]
    X, y = chess.data.iloc[::16], chess.target[::16]
    assert SSLART(random_state=0).fit(X, y).score(X, y) > 0.8


def real_rows(name: str) -> list[list[str]]:
    path = Path(DATA, SOURCES[name].files[0])
    rows = read_cells(read_text(path))
    return rows if name == "kr_vs_kp" else without_header(rows)


def as_uci(name: str) -> str:
    """The real values in the format that UCI gives them in: no header, and its own separators and codes."""
    rows = real_rows(name)
    if name == "australian":
        return "".join(" ".join(row) + " \n" for row in rows)
    if name == "german":
        return "".join("".join(cell.rjust(4) for cell in row) + " \n" for row in rows)
    if name == "seeds":  # some of its tabs are double
        return "".join("\t\t".join(row[:2]) + "\t" + "\t".join(row[2:]) + "\n" for row in rows)
    if name == "zoo":
        kinds = {kind: str(number) for number, kind in enumerate(SOURCES["zoo"].classes, 1)}
        codes = {"true": "1", "false": "0", **kinds}
        return "".join(",".join(codes.get(cell, cell) for cell in row) + "\n" for row in rows)
    return "".join(",".join(row) + "\n" for row in rows)


@needs_data
@pytest.mark.parametrize("name", [name for name in TABLES if name != "pima"])
def test_ucis_format_gives_the_same(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = loader(name)()
    text = as_uci(name)
    download = tmp_path / SOURCES[name].downloads[0].path
    download.parent.mkdir()
    download.write_text(text)
    monkeypatch.delenv("SSLART_DATA")
    monkeypatch.setenv("SSLART_CACHE", str(tmp_path))
    bunch = loader(name)()
    assert bunch.source == "cache"
    assert np.array_equal(bunch.target, expected.target)
    if name == "kr_vs_kp":
        assert bunch.data.equals(expected.data)
    else:
        assert np.array_equal(bunch.data, expected.data, equal_nan=True)


@needs_data
@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("30,64,1,1\n", "30,64,2,1\n", "its content"),
        ("30,64,1,1\n", "", "305, 3, 2"),
        ("30,64,1,1\n", "30,64,1\n", "row 1 has 2 values"),
        ("30,64,1,1\n", "30,64,x,1\n", "row 1 holds something"),
        ("30,64,1,1\n", "30,64,1,7\n", "'7' is not one of the classes"),
    ],
)
def test_a_damaged_table_is_refused(
    old: str, new: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = Path(DATA, "haberman", "haberman.csv").read_text()
    (tmp_path / "haberman").mkdir()
    (tmp_path / "haberman" / "haberman.csv").write_text(text.replace(old, new, 1))
    monkeypatch.setenv("SSLART_DATA", str(tmp_path))
    with pytest.raises(ValueError, match=r"haberman\.csv is damaged or another version") as caught:
        datasets.load_haberman()
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "a,b,c\n1,2,?\n3,4.5,x\n",
        "1 2  ?\n\n3\t4.5\tx",
        "% note\n@relation r\n@data\n'1','2',?\n3,4.5,'x'\n",
        "\ufeff1;2;?\r\n3;4.5;x\r\n",
    ],
    ids=["header", "blanks", "arff", "semicolons"],
)
def test_cells_are_the_same_however_they_are_separated(text: str, tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_text(text, encoding="utf-8", newline="")
    rows = without_header(read_cells(read_text(path)))
    assert rows == [["1", "2", "?"], ["3", "4.5", "x"]]
    assert np.array_equal(to_numbers([row[:2] for row in rows], 2), [[1, 2], [3, 4.5]])
    assert np.isnan(to_numbers([rows[0]], 3)[0, 2])
