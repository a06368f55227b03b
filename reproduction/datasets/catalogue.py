"""Catalogue of data sets: size, files, origin, and content digest of each."""

from __future__ import annotations

import difflib

from reproduction.datasets.source import Download, Source

_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
_GITHUB = "https://raw.githubusercontent.com/"
_MNIST = "https://storage.googleapis.com/cvdf-datasets/mnist/"
_NORB = "https://cs.nyu.edu/~ylclab/data/norb-v1.0-small/"
_NORB_TRAINING = "smallnorb-5x46789x9x18x6x2x96x96-training-"
_NORB_TESTING = "smallnorb-5x01235x9x18x6x2x96x96-testing-"
_AIMEEXLIN = _GITHUB + "aimeexlin/human-activity-recognition/1d4302afaa3d27743ff4c8f89ee521971ef980f3/"
_GIZEMKULEKCII = (
    _GITHUB + "gizemkulekcii/Activity-Recognition-with-Accelerometer-Data/7a7d057a5016ab94769c19d879e96e3cd218f6e0/"
)
_DIGITS = tuple("0123456789")
_CC_BY = "CC BY 4.0"
_ASK_UCI = "ask the UCI Machine Learning Repository (archive.ics.uci.edu)"


def source_of(name: str) -> Source:
    """Return the entry of a data set, or raise an error that lists all names."""
    if name not in SOURCES:
        close = difflib.get_close_matches(str(name), SOURCES, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"There is no data set {name!r}.{hint} There are: {', '.join(SOURCES)}.")
    return SOURCES[name]


def _uci(
    name: str, title: str, size: tuple[int, int], classes: tuple[str, ...], file: str, at: str, **more: str
) -> Source:
    folder = file.split("/")[0]
    return Source(
        name,
        title,
        *size,
        classes,
        licence=_CC_BY,
        origin=more.get("origin", "UCI Machine Learning Repository"),
        ask=_ASK_UCI,
        files=(file,),
        downloads=(Download(_UCI + at, f"{folder}/{at.split('/')[-1]}"),),
        content=more["content"],
    )


def _shipped(
    name: str, title: str, size: tuple[int, int], classes: tuple[str, ...], origin: str, content: str
) -> Source:
    return Source(name, title, *size, classes, _CC_BY, origin, _ASK_UCI, content=content, shipped=True)


_ALL = (
    _uci(
        "australian",
        "Australian credit approval (Statlog)",
        (690, 14),
        ("negative", "positive"),
        "australian/australian.dat",
        "statlog/australian/australian.dat",
        content="2b7a51b172e7398187e36ad44308d562a2aff23fb1bf94c0563e92c2bd14cf5a",
    ),
    _uci(
        "bupa",
        "BUPA liver disorders",
        (345, 6),
        ("1", "2"),
        "bupa/bupa.data",
        "liver-disorders/bupa.data",
        origin="UCI Machine Learning Repository. The target is the donors' selector: it marks a split, not a diagnosis",
        content="289b0c9adbfd2df68c79dc4003283ad3efa642679e9bbdd057c0838f25a109aa",
    ),
    _uci(
        "german",
        "German credit, numeric version (Statlog)",
        (1000, 24),
        ("good", "bad"),
        "german_numeric/german.data-numeric",
        "statlog/german/german.data-numeric",
        content="2154f74e21f95f3b523fed89f9e36719375eb269721460f641ca67c467c09b9b",
    ),
    _uci(
        "haberman",
        "Haberman's survival after breast cancer surgery",
        (306, 3),
        ("survived", "died"),
        "haberman/haberman.csv",
        "haberman/haberman.data",
        content="5c9114dc33e3b61f13b52844cb573a71bcb06bb9980390b6ad660dcf5c8cf062",
    ),
    _uci(
        "heart_cleveland",
        "Heart disease, Cleveland",
        (303, 13),
        ("absence", "presence"),
        "heart_cleveland/processed.cleveland.data",
        "heart-disease/processed.cleveland.data",
        content="3aae8e8bbc0021353608dd7cb091700ad2f1da02bc9e6d02b20563c538ff0251",
    ),
    _uci(
        "ionosphere",
        "Radar returns from the ionosphere",
        (351, 34),
        ("bad", "good"),
        "ionosphere/ionosphere.csv",
        "ionosphere/ionosphere.data",
        content="7c7b5237a59dc9763e4c41c0fe25a4cafceac0a71ce9245f3ce1ce34335a1f90",
    ),
    _uci(
        "kr_vs_kp",
        "Chess: king and rook against king and pawn on a7",
        (3196, 36),
        ("won", "nowin"),
        "kr_vs_kp/kr.vs.kp.arff",
        "chess/king-rook-vs-king-pawn/kr-vs-kp.data",
        content="52d654637a68b0f1528e56e72eef6a4a1e8c5f3f9774851ce48331a04dbe7668",
    ),
    _uci(
        "mammographic",
        "Mammographic masses",
        (961, 5),
        ("benign", "malignant"),
        "mammographic/mammographic_masses.data",
        "mammographic-masses/mammographic_masses.data",
        content="b22f01e127e56a61bb213242ddf3eeba51dad9cd3aff584857892e8c5eec526a",
    ),
    Source(
        "pima",
        "Diabetes among Pima women",
        768,
        8,
        ("negative", "positive"),
        licence="public",
        origin="National Institute of Diabetes and Digestive and Kidney Diseases; no longer at UCI",
        ask="ask the keepers of github.com/jbrownlee/Datasets",
        files=("pima/pima-indians-diabetes.csv",),
        downloads=(
            Download(
                _GITHUB + "jbrownlee/Datasets/d20fcb6402ae34e653d4513b00f39257bb37ed7f/pima-indians-diabetes.csv",
                "pima/pima-indians-diabetes.csv",
            ),
        ),
        content="d82765dc841407faf690224c3f275de00eaad8dbf1dcc422438fd76c867a2e96",
    ),
    _shipped(
        "wdbc",
        "Breast cancer Wisconsin, diagnostic",
        (569, 30),
        ("malignant", "benign"),
        "UCI Machine Learning Repository, in the copy that scikit-learn ships",
        content="0736a12eb7209fc187b5b5d19773a5b35b35c9b8dda5be71b98b6cbba497a1bc",
    ),
    _shipped(
        "wine",
        "Wine of three cultivars",
        (178, 13),
        ("class_0", "class_1", "class_2"),
        "UCI Machine Learning Repository, in the copy that scikit-learn ships",
        content="12a2b64b41a06282aae4c14512c3ed26ccb71b1867282fcaf676f05adef2017d",
    ),
    _shipped(
        "iris",
        "Iris flowers",
        (150, 4),
        ("setosa", "versicolor", "virginica"),
        "Fisher's paper, in the copy that scikit-learn ships: samples 34 and 37 (counted from 0) are as Fisher printed "
        "them; UCI's copy has errors in both",
        content="ae9a66df45b3119451f74ce77fa6ee891020b891d426078c81d0a1bee8612f15",
    ),
    _uci(
        "seeds",
        "Kernels of three varieties of wheat",
        (210, 7),
        ("Kama", "Rosa", "Canadian"),
        "seeds/wheat-seeds.csv",
        "00236/seeds_dataset.txt",
        content="8fd12316e8d5cc6a3ad3179d1539c4697b7a2896089e05948e3ae02ce73c2325",
    ),
    _uci(
        "zoo",
        "Animals of a zoo",
        (101, 16),
        ("mammal", "bird", "reptile", "fish", "amphibian", "insect", "invertebrate"),
        "zoo/zoo.arff",
        "zoo/zoo.data",
        content="cbe776156b839b865b6d6674f0882a7c9a1f86501785788ca77fe3240bb751eb",
    ),
    Source(
        "optdigits",
        "Handwritten digits, 8 × 8 counts of 0 to 16",
        5620,
        64,
        _DIGITS,
        _CC_BY,
        "UCI Machine Learning Repository",
        _ASK_UCI,
        files=("optdigits/optdigits.tra", "optdigits/optdigits.tes"),
        downloads=(
            Download(_UCI + "optdigits/optdigits.tra", "optdigits/optdigits.tra"),
            Download(_UCI + "optdigits/optdigits.tes", "optdigits/optdigits.tes"),
        ),
        content="eed3b4d1c0d39cf22991ec113fb681f5d706333dc6ccd53496d5913bb05f8fbd",
    ),
    Source(
        "usps",
        "Handwritten digits of the US Postal Service, 16 × 16 grey values in [-1, 1]",
        9298,
        256,
        _DIGITS,
        "unstated; given out for research",
        "The Elements of Statistical Learning (zip.train and zip.test), from LeCun and others",
        ask="ask the authors of The Elements of Statistical Learning (hastie.su.domains/ElemStatLearn)",
        files=("usps/usps_x1000_int16.npz",),
        downloads=(
            Download("https://hastie.su.domains/ElemStatLearn/datasets/zip.train.gz", "usps/zip.train.gz"),
            Download("https://hastie.su.domains/ElemStatLearn/datasets/zip.test.gz", "usps/zip.test.gz"),
        ),
        content="f9e06b0af7e2e3b0aa6510406269350242f1e79dda48453bb481ba8f73402c6e",
    ),
    Source(
        "norb_small",
        "Toys seen by two cameras (NORB small), 32 × 32 grey values per camera",
        48600,
        2048,
        ("animal", "human", "airplane", "truck", "car"),
        "for research; not for commercial use",
        "LeCun, Huang and Bottou, New York University",
        ask="ask its owners (cs.nyu.edu/~ylclab/data/norb-v1.0-small)",
        files=tuple(
            f"norb_small/{part}{kind}.mat" for part in (_NORB_TRAINING, _NORB_TESTING) for kind in ("dat", "cat")
        ),
        downloads=tuple(
            Download(f"{_NORB}{part}{kind}.mat.gz", f"norb_small/{part}{kind}.mat.gz")
            for part in (_NORB_TRAINING, _NORB_TESTING)
            for kind in ("dat", "cat")
        ),
    ),
    Source(
        "mnist",
        "Handwritten digits, 28 × 28 grey values of 0 to 255",
        70000,
        784,
        _DIGITS,
        "CC BY-SA 3.0",
        "LeCun, Cortes and Burges",
        ask="ask the Common Visual Data Foundation, which hosts it",
        files=tuple(
            f"mnist/{part}-{kind}-ubyte.gz" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1")
        ),
        downloads=tuple(
            Download(f"{_MNIST}{file}", f"mnist/{file}", sha256)
            for file, sha256 in (
                ("train-images-idx3-ubyte.gz", "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"),
                ("train-labels-idx1-ubyte.gz", "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"),
                ("t10k-images-idx3-ubyte.gz", "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"),
                ("t10k-labels-idx1-ubyte.gz", "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"),
            )
        ),
        content="012b7e262e65022ea21d61aa6f48cec95f6f2378d9935ddfe815552b09a643d5",
    ),
    Source(
        "tep",
        "Tennessee Eastman process: a simulated chemical plant with 21 faults",
        31700,
        52,
        ("normal", "fault"),
        "University of Illinois/NCSA, in the archive",
        "Chiang, Russell and Braatz",
        ask="ask the Braatz group (web.mit.edu/braatzgroup)",
        files=("tep/tep_braatz_dat.tar.gz",),
        downloads=(
            Download(
                "https://codeload.github.com/camaramm/tennessee-eastman-profBraatz/tar.gz/"
                "0643318858ce7c87292bd59820b459e12a13d009",
                "tep/tennessee-eastman-profBraatz.tar.gz",
            ),
        ),
        content="5bcdb0b8d28e0793a3903f4828e222296f44dc683f11e9327008ecf7a0bffbbb",
    ),
    Source(
        "unsw_nb15",
        "UNSW-NB15: network flows, the part that its owners call the training set",
        82332,
        42,
        ("normal", "attack"),
        "free for academic research",
        "Moustafa and Slay, University of New South Wales",
        ask="ask UNSW Canberra (research.unsw.edu.au/projects/unsw-nb15-dataset)",
        files=("unsw_nb15/UNSW_NB15_training-set.zip",),
        downloads=(
            Download(
                _GITHUB + "vincentlemaire-labs/CAID2025/6c2c870554ecbdef36b4909a1b9fa8efaa722592/"
                "UNSW_NB15_training-set.zip",
                "unsw_nb15/UNSW_NB15_training-set.zip",
            ),
        ),
        content="3737d2073a098de5b58d8bcb0124bcd282e7037ae2cb374f02fe5681f4d8e8de",
    ),
    Source(
        "wadi",
        "WADI: a water distribution testbed under attack",
        1382402,
        123,
        ("normal", "attack"),
        "given out by its owners on request",
        "iTrust, Singapore University of Technology and Design; sizes are those of the first edition",
        ask="ask iTrust, Singapore University of Technology and Design (itrust.sutd.edu.sg), for it",
    ),
    Source(
        "human_motion",
        "Walking and running, 390 windows of a phone's accelerometer",
        390,
        27,
        ("walking", "running"),
        "unstated by those who recorded it",
        "two persons' recordings on github.com, aimeexlin/human-activity-recognition and "
        "gizemkulekcii/Activity-Recognition-with-Accelerometer-Data; in the form of the paper's experiment, whose own "
        "390 samples are private",
        ask="ask those who recorded it",
        files=tuple(
            f"walk_run/phone_{who}_{what}.csv.gz"
            for who in ("aimeexlin", "gizemkulekcii")
            for what in ("walking", "running")
        ),
        downloads=(
            Download(_AIMEEXLIN + "walking.csv", "walk_run/phone_aimeexlin_walking.csv"),
            Download(_AIMEEXLIN + "running.csv", "walk_run/phone_aimeexlin_running.csv"),
            Download(_GIZEMKULEKCII + "walking.csv", "walk_run/phone_gizemkulekcii_walking.csv"),
            Download(_GIZEMKULEKCII + "running.csv", "walk_run/phone_gizemkulekcii_running.csv"),
        ),
        content="b087d3ac608cf51d5781619c27a69c395006226a7452cb2dbd4b5c5617d4f2b9",
    ),
)

SOURCES: dict[str, Source] = {source.name: source for source in _ALL}
