"""Plants and networks: runs stay apart, faults begin where they should, and both editions of WADI are read."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reproduction import datasets
from reproduction.datasets.loaders.anomaly import to_run
from reproduction.datasets.loaders.wadi import ATTACKS
from reproduction.tests import DATA, needs_data


def as_text(table: np.ndarray) -> bytes:
    return "\n".join("  ".join(f"{value:.7e}" for value in row) for row in table).encode()


def test_the_run_without_fault_is_turned_and_the_others_are_not() -> None:
    moments = np.arange(500.0)[:, None] + np.arange(52) / 100
    assert np.allclose(to_run("d00", as_text(moments.T)), moments)
    assert np.allclose(to_run("d00_te", as_text(moments)), moments)
    assert np.allclose(to_run("d01", as_text(moments[:52])), moments[:52])
    with pytest.raises(ValueError, match=r"d03\.dat has 510 values in 10 lines"):
        to_run("d03", as_text(moments[:10, :51]))


@pytest.fixture(scope="module")
def tep() -> Any:
    return datasets.load_tep()


@needs_data
def test_tep_has_44_runs_and_faults_begin_where_they_should(tep: Any) -> None:
    assert tep.data.shape == (31700, 52)
    assert len(np.unique(tep.run)) == 44
    assert np.array_equal(tep.target == "fault", tep.fault > 0)
    for number in range(22):
        training = tep.run == f"d{number:02}"
        assert training.sum() == (480 if number else 500)
        assert (tep.fault[training] == number).all()
        test = tep.fault[tep.run == f"d{number:02}_te"]
        assert (test[:160] == 0).all()
        assert (test[160:] == number).all()
        assert len(test) == 960
    assert (np.diff([np.flatnonzero(tep.run == run)[0] for run in dict.fromkeys(tep.run.tolist())]) > 0).all()


@needs_data
def test_tep_without_fault_looks_alike_in_training_and_test(tep: Any) -> None:
    training, test = tep.data[tep.run == "d00"], tep.data[tep.run == "d00_te"]
    assert (np.abs(training.mean(axis=0) - test.mean(axis=0)) < test.std(axis=0) + 1e-9).all()


@pytest.mark.slow
@needs_data
def test_tep_can_be_had_in_parts(tep: Any) -> None:
    for subset, n_samples in (("train", 10580), ("test", 21120)):
        part = datasets.load_tep(subset=subset)
        assert len(part.data) == n_samples
        assert np.array_equal(np.unique(np.char.endswith(part.run, "_te")), [subset == "test"])
        assert np.array_equal(part.data, tep.data[np.isin(tep.run, part.run)])
    with pytest.raises(ValueError, match="'all', 'train', 'test'"):
        datasets.load_tep(subset="both")


@pytest.mark.slow
@needs_data
def test_tep_is_the_same_from_a_folder_and_from_the_tree_of_a_repository(tep: Any, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    with tarfile.open(Path(DATA, "tep", "tep_braatz_dat.tar.gz")) as archive:
        archive.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    assert np.array_equal(datasets.load_tep(path=folder).data, tep.data)
    tree = tmp_path / "tree.tar"
    with tarfile.open(tree, "w") as archive:
        archive.add(folder, "repository-0643318")
    assert np.array_equal(datasets.load_tep(path=tree).data, tep.data)
    (folder / "d07_te.dat").unlink()
    with pytest.raises(ValueError, match=r"damaged or another version: it has no d07_te\.dat"):
        datasets.load_tep(path=folder)


def test_an_archive_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tep.tar.gz"
    path.write_bytes(b"not an archive")
    with pytest.raises(ValueError, match="damaged or another version"):
        datasets.load_tep(path=path)
    with tarfile.open(path, "w:gz") as archive:
        archive.addfile(tarfile.TarInfo("readme.txt"), io.BytesIO())
    with pytest.raises(ValueError, match=r"it has no d00\.dat"):
        datasets.load_tep(path=path)


@needs_data
def test_flows_have_their_categories_and_counts() -> None:
    flows = datasets.load_unsw_nb15(as_frame=True)
    assert flows.data.shape == (82332, 42)
    assert flows.target.value_counts().to_dict() == {"attack": 45332, "normal": 37000}
    categorical = [name for name, dtype in flows.data.dtypes.items() if dtype == "category"]
    assert categorical == ["proto", "service", "state"]
    assert "-" in flows.data["service"].cat.categories
    assert len(np.unique(flows.attack_cat)) == 10
    assert np.array_equal(flows.attack_cat == "Normal", flows.target == "normal")
    assert not flows.data.isna().any(axis=None)
    assert not {"id", "label", "attack_cat"} & set(flows.feature_names)


PREFIX = r"\\WIN-25J4RO10SBF\LOG_DATA\SUTD_WADI\LOG_DATA" + "\\"
TAGS = ("1_AIT_001_PV", "2_LS_001_AL", "2_PIC_003_SP")  # the second one never has a value
LABEL = "Attack LABLE (1:No Attack, -1:Attack)"


def write_first_edition(folder: Path) -> None:
    header = ",".join(["Row", "Date", "Time", *(PREFIX + tag for tag in TAGS)])
    normal = ["1,9/25/2017,6:00:00.000 PM,171.1,,10", "2,9/25/2017,6:00:01.000 PM,171.2,,"]
    (folder / "WADI_14days.csv").write_text("\n".join(["Log of", "", "WADI", "", header, *normal]) + "\n")
    attack = [
        "1,10/9/2017,7:24:59.000 PM,1.5,,20",
        "2,10/9/2017,7:25:00.000 PM,1.6,,21",
        "3,10/9/2017,7:50:16.000 PM,1.7,,22",
        "4,10/9/2017,7:50:17.000 PM,1.8,,23",
        "5,10/11/2017,10:56:00.000 AM,1.9,,24",
    ]
    header = ",".join(["Row", "Date", "Time", *TAGS])
    (folder / "WADI_attackdata.csv").write_text("\n".join([header, *attack]) + "\n")


def write_later_edition(folder: Path) -> None:
    names = ",".join(["Row", "Date", "Time", *TAGS])
    normal = ["1,9/25/17,00:00.0,171.1,,10", "2,9/25/17,00:01.0,171.2,,11"]
    (folder / "WADI_14days_new.csv").write_text("\n".join([names, *normal]) + "\n")
    head = [",,,,,,", f'Row ,Date ,Time,{",".join(TAGS)},"{LABEL}"']
    attack = ["1,10/9/17,00:00.0,1.5,,20,1", "2,10/9/17,00:01.0,1.6,,21,-1", ",,,,,,"]
    (folder / "WADI_attackdataLABLE.csv").write_text("\n".join([*head, *attack]) + "\n")


def test_the_first_edition_of_wadi_is_labelled_by_the_list_of_attacks(tmp_path: Path) -> None:
    write_first_edition(tmp_path)
    wadi = datasets.load_wadi(tmp_path)
    assert wadi.feature_names == ["1_AIT_001_PV", "2_PIC_003_SP"]
    assert wadi.data.shape == (7, 2)
    assert wadi.data[0].tolist() == [171.1, 10]
    assert np.isnan(wadi.data[1, 1])
    assert wadi.subset.tolist() == ["train"] * 2 + ["test"] * 5
    assert wadi.target.tolist() == ["normal"] * 3 + ["attack"] * 2 + ["normal", "attack"]
    assert str(wadi.time[2]).startswith("2017-10-09T19:24:59")
    mine = datasets.load_wadi(tmp_path, subset="test", attacks=[("2017-10-09 19:24:59", "2017-10-09 19:24:59")])
    assert mine.target.tolist() == ["attack"] + ["normal"] * 4


def test_the_later_edition_of_wadi_is_labelled_by_its_last_column(tmp_path: Path) -> None:
    write_later_edition(tmp_path)
    wadi = datasets.load_wadi(tmp_path)
    assert wadi.feature_names == ["1_AIT_001_PV", "2_PIC_003_SP"]
    assert wadi.data.tolist() == [[171.1, 10], [171.2, 11], [1.5, 20], [1.6, 21]]
    assert wadi.target.tolist() == ["normal", "normal", "normal", "attack"]
    assert np.isnat(wadi.time).all()
    X, y = datasets.load_wadi(tmp_path, subset="train", return_X_y=True)
    assert X.shape == (2, 2)
    assert y.tolist() == ["normal", "normal"]


def test_attacks_follow_each_other() -> None:
    moments = [np.datetime64(moment) for attack in ATTACKS for moment in attack]
    assert moments == sorted(moments)
    assert len(set(moments)) == 28


def test_without_labels_and_times_wadi_is_refused(tmp_path: Path) -> None:
    write_first_edition(tmp_path)
    file = tmp_path / "WADI_attackdata.csv"
    file.write_text(file.read_text().replace("7:24:59.000 PM", "24:59.0"))
    with pytest.raises(ValueError, match="neither labels nor complete times"):
        datasets.load_wadi(tmp_path)


def test_the_error_for_wadi_names_its_owners(tmp_path: Path) -> None:
    with pytest.raises(datasets.DataNotFoundError, match=r"no WADI_14days\*\.csv .* ask iTrust"):
        datasets.load_wadi(tmp_path)
    (tmp_path / "WADI_14days.csv").write_text("something,else\n1,2\n")
    with pytest.raises(ValueError, match=r"WADI_14days\.csv has no line that begins with Row, Date, Time"):
        datasets.load_wadi(tmp_path, subset="train")
