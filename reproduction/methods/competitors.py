"""Alternatives available today, under the same splits: scikit-learn classifiers, and methods written here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import make_column_transformer
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC, OneClassSVM
from sklearn.tree import DecisionTreeClassifier

from reproduction.framework.protocol import Labels, Task
from reproduction.methods.lapsvm import LapSVM
from reproduction.methods.means3vm import MeanS3VM
from reproduction.methods.means3vm_mkl import MeanS3VMMKL
from reproduction.methods.mssksc import MSSKSC
from reproduction.methods.regboost import RegularizedBoost
from reproduction.methods.semiboost import SemiBoost
from reproduction.methods.ssbls import SSBLS

FloatArray = NDArray[np.float64]
Method = Callable[[Task], Labels]

MAX_ROWS = 1000  # of the training samples for methods whose cost grows with their cube


def preparation(task: Task) -> Any:
    """Return a fitted preprocessor: numbers imputed and scaled to [0, 1], categories as indicators."""
    numeric = make_pipeline(SimpleImputer(keep_empty_features=True), MinMaxScaler(clip=True))
    if hasattr(task.X, "dtypes"):
        nominal = [name for name in task.X.columns if not np.issubdtype(_dtype(task.X[name]), np.number)]
        others = [name for name in task.X.columns if name not in nominal]
        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        numeric = make_column_transformer((numeric, others), (encoder, nominal))
    return numeric.fit(task.X)


def prepared(task: Task) -> tuple[FloatArray, FloatArray]:
    """Return training and test samples as `preparation` makes them."""
    transform = preparation(task).transform
    return np.asarray(transform(task.X), dtype=np.float64), np.asarray(transform(task.X_test), dtype=np.float64)


def _dtype(column: Any) -> Any:
    return column.dtype if isinstance(column.dtype, np.dtype) else np.dtype(object)


def codes_of(task: Task, classes: Labels | None = None) -> tuple[NDArray[np.int64], Labels]:
    """Return the labels as numbers, -1 where hidden, and the classes they stand for: those given, or all labels."""
    if classes is None:
        classes = np.array(sorted({label for label in task.y if label is not None}), dtype=object)
    place = {name: code for code, name in enumerate(classes)}
    return np.array([place.get(label, -1) for label in task.y]), classes


def supervised(estimator: Any) -> Method:
    """Train on the labelled samples alone."""

    def predict(task: Task) -> Labels:
        training, test = prepared(task)
        codes, classes = codes_of(task)
        rows = codes >= 0
        return np.asarray(classes[estimator().fit(training[rows], codes[rows]).predict(test)])

    return predict


def semi_supervised(estimator: Any) -> Method:
    """Train on all samples, by scikit-learn's convention that -1 is no label."""

    def predict(task: Task) -> Labels:
        training, test = prepared(task)
        codes, classes = codes_of(task)
        with np.errstate(invalid="ignore"):  # a sample that no label reaches
            codes_found = estimator().fit(training, codes).predict(test)
        return np.asarray(np.where(codes_found >= 0, classes[np.maximum(codes_found, 0)], None))

    return predict


def boosted(estimator: Any) -> Method:
    """Train SemiBoost over a base learner."""

    def predict(task: Task) -> Labels:
        training, test = prepared(task)
        return SemiBoost(estimator(), random_state=task.seed).fit(training, task.y).predict(test)

    return predict


def written(estimator: Callable[[int], Any], max_rows: int = MAX_ROWS) -> Method:
    """Train a method written here on all labelled and so many other samples that there are at most `max_rows`."""

    def predict(task: Task) -> Labels:
        training, test = prepared(task)
        codes, classes = codes_of(task)
        rows = _fewer_rows(codes, max_rows, task.seed)
        return np.asarray(classes[estimator(task.seed).fit(training[rows], codes[rows]).predict(test)])

    return predict


def _fewer_rows(codes: NDArray[np.int64], max_rows: int, seed: int) -> NDArray[np.int64]:
    labelled, unlabelled = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
    n_kept = max(0, max_rows - len(labelled))
    kept = np.random.RandomState(seed).permutation(unlabelled)[:n_kept]
    return np.sort(np.concatenate([labelled, kept]))


def one_class(estimator: Any, normal: str, anomaly: str) -> Method:
    """Train on the samples known to be normal; what does not fit is an anomaly."""

    def predict(task: Task) -> Labels:
        training, test = prepared(task)
        inside = estimator().fit(training[task.y == normal]).predict(test) > 0
        return np.where(inside, normal, anomaly).astype(object)

    return predict


BASES: dict[str, Callable[[], Any]] = {
    "naive Bayes": GaussianNB,
    "tree": lambda: DecisionTreeClassifier(min_samples_leaf=2, random_state=0),
    "3NN": lambda: KNeighborsClassifier(3),
}


def spreading() -> Any:
    """Return label spreading over nearest neighbours."""
    return LabelSpreading(kernel="knn", n_neighbors=7)


def regularized(base: Callable[[], Any]) -> Method:
    """Train Regularized Boost over a base learner."""
    return written(lambda seed: RegularizedBoost(base(), random_state=seed))


def broad(n_enhancement: int = 100) -> Method:
    """Return the semi-supervised broad learning system, whose cost allows all training samples."""
    return written(lambda seed: SSBLS(n_enhancement=n_enhancement, random_state=seed), max_rows=10_000)


SEMI_SUPERVISED: dict[str, Method] = {
    "LabelSpreading": semi_supervised(spreading),
    **{
        f"SelfTraining, {name}": semi_supervised(lambda base=base: SelfTrainingClassifier(base()))
        for name, base in BASES.items()
    },
    "LapSVM": written(lambda seed: LapSVM(random_state=seed)),
    "MSS-KSC": written(lambda seed: MSSKSC(random_state=seed)),
    "MeanS3VM-iter": written(lambda seed: MeanS3VM(random_state=seed)),
    "MeanS3VM-mkl": written(lambda seed: MeanS3VMMKL(random_state=seed)),
    "SS-BLS": broad(),
}
SEMIBOOST: dict[str, Method] = {f"SemiBoost, {name}": boosted(base) for name, base in BASES.items()}
REGULARIZED_BOOST: dict[str, Method] = {f"Regularized Boost, {name}": regularized(base) for name, base in BASES.items()}
SUPERVISED: dict[str, Method] = {
    "SVM, labelled only": supervised(lambda: SVC(C=10.0, gamma="scale")),
    "random forest, labelled only": supervised(lambda: RandomForestClassifier(random_state=0)),
}


def detectors(normal: str, anomaly: str) -> dict[str, Method]:
    """Return the methods for anomalies."""
    return {
        "OCSVM": one_class(lambda: OneClassSVM(nu=0.05, gamma="scale"), normal, anomaly),
        "IsolationForest": one_class(lambda: IsolationForest(random_state=0), normal, anomaly),
        **SUPERVISED,
    }


_REGBOOST = (
    "Chen and Wang, 2011: the equations of that version were not available to us; its predecessor by the same authors, "
    "Regularized Boost (2007), is run instead."
)
_BROAD = (
    "Zheng, Yuan, Zhao and Deng, 2020: the number of nodes, the graph and the parameters of label propagation were not "
    "available to us; another semi-supervised broad learning system, SS-BLS, is run instead."
)
_DEEP = "Yang et al., 2022: a deep network; its architecture, its windows and its threshold are not in the paper."
# the names that the paper prints, and why these methods are not run here
NOT_RUN: dict[str, str] = {
    "REGB (NB)": _REGBOOST,
    "REGB (C4.5)": _REGBOOST,
    "REGB (3NN)": _REGBOOST,
    "FLAP-BLS": _BROAD,
    "TLLT-BLS": _BROAD,
    "LPDGL-BLS": _BROAD,
    "VAR": "Yang et al., 2022: vector autoregression; its order and the threshold on its errors are not in the paper.",
    "AE": _DEEP,
    "DAGMM": _DEEP,
    "OmniAnomaly": _DEEP,
    "GANF": _DEEP,
    "HiSTAR": _DEEP,
}
