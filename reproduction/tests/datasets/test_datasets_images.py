"""Images: the owners' formats are read to the last byte, and from every format come the same values."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from reproduction import datasets
from reproduction.datasets.catalogue import SOURCES
from reproduction.datasets.content import digest
from reproduction.datasets.loaders.images import read_idx
from reproduction.datasets.loaders.norb import read_norb
from reproduction.tests import DATA, needs_data


@needs_data
def test_optdigits_end_with_scikit_learns_digits() -> None:
    digits = datasets.load_optdigits()
    assert digits.data.shape == (5620, 64)
    assert digits.data.dtype == np.float64
    test = digits.subset == "test"
    assert test.sum() == 1797
    assert np.array_equal(digits.data[test], load_digits().data)
    assert np.array_equal(digits.target[test], load_digits().target.astype(str))


@needs_data
def test_optdigits_from_ucis_format_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = datasets.load_optdigits()
    (tmp_path / "optdigits").mkdir()
    for file in ("optdigits.tra", "optdigits.tes"):
        text = Path(DATA, "optdigits", file).read_text()
        (tmp_path / "optdigits" / file).write_text(text.replace("\t", ","))
    monkeypatch.setenv("SSLART_DATA", str(tmp_path))
    assert np.array_equal(datasets.load_optdigits().data, expected.data)


@needs_data
def test_usps_is_the_same_from_the_books_text_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usps = datasets.load_usps()
    assert usps.data.shape == (9298, 256)
    assert (usps.data.min(), usps.data.max()) == (-1, 1)
    assert (usps.subset == "train").sum() == 7291
    assert (usps.target == "0").sum() == 1553
    some = np.r_[:60, 7291:7351]
    (tmp_path / "usps").mkdir()
    for rows, file in ((some[:60], "zip.train.gz"), (some[60:], "zip.test.gz")):
        table = np.column_stack([usps.target[rows].astype(float), usps.data[rows]])
        text = "\n".join(" ".join(map("{:.4f}".format, row)) for row in table.tolist())
        (tmp_path / "usps" / file).write_bytes(gzip.compress(text.encode()))
    monkeypatch.setenv("SSLART_DATA", str(tmp_path))
    content = digest(usps.data[some], usps.target[some])
    monkeypatch.setitem(SOURCES, "usps", replace(SOURCES["usps"], n_samples=120, content=content))
    assert np.array_equal(datasets.load_usps().data, usps.data[some])


@pytest.mark.slow
@needs_data
def test_mnist_has_its_counts_and_its_first_digits() -> None:
    mnist = datasets.load_mnist()
    assert mnist.data.shape == (70000, 784)
    assert mnist.data.dtype == np.float64
    assert (mnist.data.min(), mnist.data.max()) == (0, 255)
    assert mnist.target[:5].tolist() == ["5", "0", "4", "1", "9"]
    assert (mnist.subset == "test").sum() == 10000
    assert (mnist.target == "1").sum() == 7877


def write_idx(path: Path, values: np.ndarray) -> None:
    header = bytes([0, 0, 8, values.ndim]) + np.array(values.shape, dtype=">i4").tobytes()
    path.write_bytes(header + values.tobytes())


def test_idx_files_are_read_zipped_or_not(tmp_path: Path) -> None:
    values = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    plain, zipped = tmp_path / "plain", tmp_path / "zipped"
    write_idx(plain, values)
    zipped.write_bytes(gzip.compress(plain.read_bytes()))
    assert np.array_equal(read_idx(plain), values)
    assert np.array_equal(read_idx(zipped), values)


@pytest.mark.parametrize(
    "damage", [lambda text: text[:-1], lambda text: text + b"x", lambda text: b"\0\0\x0d" + text[3:]]
)
def test_damaged_idx_files_are_refused(damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_idx(path, np.zeros((2, 3), dtype=np.uint8))
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match="file"):
        read_idx(path)


@pytest.mark.parametrize(
    "damage", [lambda text: text[: len(text) // 2], lambda text: text[:40] + bytes(40) + text[80:]]
)
def test_a_damaged_archive_is_told_as_such(
    damage: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSLART_DATA", str(tmp_path))
    for name in SOURCES["mnist"].files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write_idx(tmp_path / name, np.random.RandomState(0).randint(0, 9, (500,), dtype=np.uint8))
        (tmp_path / name).write_bytes(damage(gzip.compress((tmp_path / name).read_bytes())))
    with pytest.raises(ValueError, match=r"mnist.*damaged or another version"):
        datasets.load_mnist()


def write_norb(folder: Path, n_pairs: int = 3, zipped: bool = False) -> np.ndarray:
    """Write the four files in the owners' format, and return the pairs of both parts."""
    folder.mkdir(exist_ok=True)
    random = np.random.RandomState(0)
    pairs = random.randint(0, 256, (2 * n_pairs, 2, 96, 96), dtype=np.uint8)
    classes = np.arange(2 * n_pairs, dtype="<i4") % 5
    for number, part in enumerate(("5x46789x9x18x6x2x96x96-training", "5x01235x9x18x6x2x96x96-testing")):
        rows = slice(number * n_pairs, (number + 1) * n_pairs)
        dat = np.array([0x1E3D4C55, 4, n_pairs, 2, 96, 96], dtype="<i4").tobytes() + pairs[rows].tobytes()
        cat = np.array([0x1E3D4C54, 1, n_pairs, 1, 1], dtype="<i4").tobytes() + classes[rows].tobytes()
        for kind, content in (("dat", dat), ("cat", cat)):
            name = f"smallnorb-{part}-{kind}.mat{'.gz' if zipped else ''}"
            (folder / name).write_bytes(gzip.compress(content, 1) if zipped else content)
    return pairs


@pytest.fixture
def six_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SOURCES, "norb_small", replace(SOURCES["norb_small"], n_samples=6))


@pytest.mark.usefixtures("six_pairs")
@pytest.mark.parametrize("zipped", [False, True])
def test_norb_is_read_from_the_owners_files(zipped: bool, tmp_path: Path) -> None:
    pairs = write_norb(tmp_path, zipped=zipped)
    norb = datasets.load_norb_small(tmp_path, downsample=96)
    assert np.array_equal(norb.data, pairs.reshape(6, -1))
    assert norb.target.tolist() == ["animal", "human", "airplane", "truck", "car", "animal"]
    assert norb.subset.tolist() == ["train"] * 3 + ["test"] * 3
    assert norb.source == "path"


@pytest.mark.usefixtures("six_pairs")
def test_norb_is_averaged_and_one_camera_can_be_chosen(tmp_path: Path) -> None:
    pairs = write_norb(tmp_path)
    both = datasets.load_norb_small(tmp_path)
    assert both.data.shape == (6, 2048)
    assert both.data[4, 1] == pytest.approx(pairs[4, 0, :3, 3:6].mean())
    assert both.data[4, 1024] == pytest.approx(pairs[4, 1, :3, :3].mean())
    assert both.feature_names[1024] == "right_pixel_0_0"
    right = datasets.load_norb_small(tmp_path, camera="right", downsample=32)
    assert np.array_equal(right.data, both.data[:, 1024:])


@pytest.mark.usefixtures("six_pairs")
def test_norb_is_found_in_the_folder_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_norb(tmp_path / "norb_small")
    monkeypatch.setenv("SSLART_DATA", str(tmp_path))
    assert datasets.load_norb_small(downsample=8).data.shape == (6, 128)
    assert datasets.where("norb_small").found_in == "SSLART_DATA"


def test_norb_refuses_what_it_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(datasets.DataNotFoundError, match="training-dat"):
        datasets.load_norb_small(tmp_path)
    write_norb(tmp_path)
    with pytest.raises(ValueError, match="6 samples where 48600 are expected"):
        datasets.load_norb_small(tmp_path)
    with pytest.raises(ValueError, match="divisor of 96"):
        datasets.load_norb_small(tmp_path, downsample=31)
    with pytest.raises(ValueError, match="'both', 'left', 'right'"):
        datasets.load_norb_small(tmp_path, camera="middle")
    dat, cat = sorted(tmp_path.glob("*training-dat*"))[0], sorted(tmp_path.glob("*training-cat*"))[0]
    content = dat.read_bytes()
    dat.write_bytes(content[:-1])
    with pytest.raises(ValueError, match="ends early"):
        read_norb(dat, cat, 32, "both")
    dat.write_bytes(content[3::-1] + content[4:])  # the other byte order
    with pytest.raises(ValueError, match="does not begin like a matrix"):
        read_norb(dat, cat, 32, "both")
