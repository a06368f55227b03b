"""The cases measured: each returns rows of (work, against, nodes, ratio, target) after checking the results."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

import sslart._kernel as kernel
from data import digits, mixture, mnist, stream
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP, load, save
from sslart._art.backend import use_backend
from timing import in_turns, median, processor_seconds, ratio, seconds

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from artlib import FuzzyART as PythonArtlib
    from artlib.optimized.backends.cpp.FuzzyART import FuzzyART as CompiledArtlib
    from artlib.optimized.backends.cpp.FuzzyARTMAP import FuzzyARTMAP as CompiledArtlibMap
    from hbbrain.numerical_data.incremental_learner.onln_gfmm import OnlineGFMM

RHO, ALPHA = 0.9, 1e-3
NEVER = 2**62  # nodes


@dataclass
class Row:
    work: str
    against: str
    nodes: int
    ours: float  # seconds
    ratio: float
    target: float | None = None
    samples: int | None = None  # handled in that time


def complement(X: np.ndarray) -> np.ndarray:
    return np.hstack([X, 1.0 - X])


def agree(one: Any, other: Any, what: str) -> None:
    if not np.array_equal(one, other):
        raise AssertionError(f"results differ: {what}")


def row(
    taken: dict[str, list[float]], work: str, against: str, nodes: int, samples: int, target: float | None = None
) -> Row:
    return Row(work, against, nodes, median(taken["sslart"]), ratio(taken, "peer", "sslart"), target, samples)


def against_artlib(quick: bool) -> Iterator[Row]:
    """Fit and predict, on digits and mixtures, side by side with artlib's compiled models."""
    sets = {"digits 1797×64": digits(), "mixture 5000×32": mixture(5000)}
    if not quick:
        sets["mixture 20000×32"] = mixture(20000)
    turns = 3 if quick else 5
    for name, (X, y) in sets.items():
        coded = complement(X)
        ours, theirs = FuzzyART(RHO, bounds=(0, 1)), CompiledArtlib(rho=RHO, alpha=ALPHA, beta=1.0)
        taken = in_turns({"sslart": lambda: ours.fit(X), "peer": lambda: theirs.fit(coded)}, turns, 120)
        agree(ours.labels_, theirs.labels_, f"clusters of {name}")
        yield row(taken, f"fit FuzzyART, {name}", "artlib compiled", ours.n_nodes_, len(X), 100)
        taken = in_turns({"sslart": lambda: ours.predict(X), "peer": lambda: theirs.predict(coded)}, turns, 120)
        agree(ours.predict(X), theirs.predict(coded), f"predictions for {name}")
        yield row(taken, f"predict FuzzyART, {name}", "artlib compiled", ours.n_nodes_, len(X), 40)

        artmap, peer = FuzzyARTMAP(RHO, bounds=(0, 1)), CompiledArtlibMap(rho=RHO, alpha=ALPHA, beta=1.0)
        taken = in_turns({"sslart": lambda: artmap.fit(X, y), "peer": lambda: peer.fit(coded, y)}, turns, 120)
        yield row(taken, f"fit fuzzy ARTMAP one-to-one, {name}", "artlib compiled", artmap.n_nodes_, len(X), 60)
        many = SSLART(RHO, bounds=(0, 1), shuffle=False)
        taken = in_turns({"sslart": lambda: many.fit(X, y), "peer": lambda: peer.fit(coded, y)}, turns, 120)
        yield row(taken, f"fit SSL-ART one-to-many, {name}", "artlib compiled fuzzy ARTMAP", many.n_nodes_, len(X), 60)

    X = digits()[0][: 300 if quick else 900]
    ours, theirs = FuzzyART(RHO, bounds=(0, 1)), PythonArtlib(rho=RHO, alpha=ALPHA, beta=1.0)
    taken = in_turns({"sslart": lambda: ours.fit(X), "peer": lambda: theirs.fit(complement(X))}, 2)
    agree(ours.labels_, theirs.labels_, "clusters of the first digits")
    yield row(taken, f"fit FuzzyART, first {len(X)} digits", "artlib Python", ours.n_nodes_, len(X))


def one_at_a_time(quick: bool) -> Iterator[Row]:
    """Latency of a call with one sample, at about 2000 nodes and 32 features."""
    X, _ = mixture(20000)
    enough = next(n for n in range(500, 20000, 100) if FuzzyART(RHO, bounds=(0, 1)).fit(X[:n]).n_nodes_ >= 2000)
    ours = FuzzyART(RHO, bounds=(0, 1)).fit(X[:enough])
    theirs = CompiledArtlib(rho=RHO, alpha=ALPHA, beta=1.0).fit(complement(X[:enough]))
    n_calls = 30 if quick else 100
    rows = X[enough : enough + n_calls]

    def call(model: Any, method: str, samples: np.ndarray) -> None:
        for i in range(len(samples)):
            getattr(model, method)(samples[i : i + 1])

    for method, target in (("partial_fit", 20), ("predict", None)):
        taken = in_turns(
            {"sslart": lambda: call(ours, method, rows), "peer": lambda: call(theirs, method, complement(rows))}, 3
        )
        result = row(taken, f"{method}, one sample a call", "artlib compiled", ours.n_nodes_, 1, target)
        result.ours /= n_calls
        yield result


def against_linear_models(quick: bool) -> Iterator[Row]:
    """One row a call beside scikit-learn's linear models, and a saved model beside pickle, in processor time."""
    turns, n_calls = (5, 50) if quick else (15, 200)
    X = np.random.RandomState(0).rand(3000, 32)
    y, rows = (X[:, 0] > 0.5).astype(int), [X[i : i + 1] for i in range(n_calls)]

    def compared(ours: Any, theirs: Any, work: str, against: str, model: Any, target: float) -> Row:
        calls = {"sslart": lambda: [*map(ours, rows)], "peer": lambda: [*map(theirs, rows)]}
        found = row(in_turns(calls, turns, measure=processor_seconds), work, against, model.n_nodes_, 1, target)
        found.ours /= n_calls
        return found

    boxes, label = FuzzyART(0.8, bounds=(0, 1)).fit(X), np.ones(1, dtype=int)
    linear = SGDClassifier().partial_fit(X, y, classes=[0, 1])
    work = "FuzzyART.partial_fit, one row of 32 features, processor time"
    yield compared(
        boxes.partial_fit, lambda row: linear.partial_fit(row, label), work, "SGDClassifier.partial_fit", boxes, 10
    )
    auto = AutoSSLART(random_state=0).fit(X[:1500], np.where(np.arange(1500) < 100, y[:1500], -1))
    work = "AutoSSLART.predict, one row of 32 features, processor time"
    yield compared(auto.predict, LogisticRegression().fit(X, y).predict, work, "LogisticRegression.predict", auto, 4)

    X, y = mixture(800 if quick else 8000)
    model = AutoSSLART(random_state=0).fit(X, y)
    with TemporaryDirectory() as folder:
        path, pickled = Path(folder) / "model.sslart", pickle.dumps(model)
        save(model, path)
        agree(load(path).predict_proba(X), pickle.loads(pickled).predict_proba(X), "saved and pickled models")
        calls = {"sslart": lambda: load(path).predict(X[:1]), "peer": lambda: pickle.loads(pickled).predict(X[:1])}
        taken = in_turns(calls, turns, measure=processor_seconds)
    work = f"load a model of {len(X)} labels from its file and predict one row, processor time"
    yield row(taken, work, "pickle.loads, and the same", model.n_nodes_, 1, 1 / 3)


def against_the_plain_scan(quick: bool) -> Iterator[Row]:
    """Large data, against the same kernel without filter and vector instructions: a plain C++ scan."""

    unfiltered: Any = ModuleType("unfiltered")
    vars(unfiltered).update(vars(kernel))
    unfiltered.Boxes = partial(kernel.Boxes, filter_from=NEVER, tree_from=NEVER)
    unfiltered.Boxes.of = partial(kernel.Boxes.of, filter_from=NEVER, tree_from=NEVER)

    def plainly(work: Any) -> Any:
        def run() -> Any:
            usual = kernel.instruction_set()
            kernel.use_instruction_set("portable")
            try:
                with use_backend(unfiltered):
                    return work()
            finally:
                kernel.use_instruction_set(usual)

        return run

    images = mnist()
    if images is not None:
        X = images[:5000] if quick else images
        yield from along(X, 0.8, f"MNIST {len(X)}×784", 100 if quick else 300, plainly)
    n_samples = 100_000 if quick else 1_000_000
    yield from along(stream(n_samples), RHO, f"a stream {n_samples}×8", 500 if quick else 2_000, plainly)


def along(X: np.ndarray, rho: float, name: str, n_piece: int, plainly: Any) -> Iterator[Row]:
    """Learn all of X; at the end of each tenth of it the plain scan learns the same piece from the same model."""
    ours = FuzzyART(rho, bounds=(0, 1))
    whole = 0.0
    pieces: dict[str, dict[str, list[float]]] = {
        "learn": {"sslart": [], "peer": []},
        "predict": {"sslart": [], "peer": []},
    }
    tenth = len(X) // 10
    for start in range(0, 10 * tenth, tenth):
        upto = start + tenth - n_piece
        whole += seconds(lambda: ours.partial_fit(X[start:upto]))
        piece = X[upto : upto + n_piece]
        kept = pickle.dumps(ours)
        plain = plainly(lambda: pickle.loads(kept))()  # a copy would share the boxes and how they are searched
        ours.predict(piece[:1])  # both with their cache ready
        plainly(lambda: plain.predict(piece[:1]))()
        for verb, method in (("predict", "predict"), ("learn", "partial_fit")):
            taken = in_turns(
                {
                    "sslart": lambda: getattr(ours, method)(piece),
                    "peer": plainly(lambda: getattr(plain, method)(piece)),
                },
                1,
            )
            for contender, times in taken.items():
                pieces[verb][contender] += times
        whole += pieces["learn"]["sslart"][-1]
        agree(ours.lower_, plain.lower_, f"boxes of {name}")
    for verb, target in (("learn", 10), ("predict", None)):
        total = {contender: [sum(times)] for contender, times in pieces[verb].items()}
        work = f"{verb} ten pieces of {n_piece} along {name}, ρ={rho:g}"
        yield row(total, work, "plain C++ scan", ours.n_nodes_, 10 * n_piece, target)
    yield Row(f"learn all of {name}", "", ours.n_nodes_, whole, float("nan"), None, 10 * tenth)


def threads(quick: bool) -> Iterator[Row]:
    """Two threads against one."""
    X, y = mixture(5000 if quick else 20000)
    few = np.where(np.arange(len(y)) % 20, -1, y)
    models = {n: WESSLART(7, vigilance=RHO, n_jobs=n, random_state=0) for n in (1, 2)}
    turns = 3 if quick else 7
    taken = in_turns({"sslart": lambda: models[2].fit(X, few), "peer": lambda: models[1].fit(X, few)}, turns)
    agree(models[1].predict(X), models[2].predict(X), "ensembles in one and two threads")
    yield row(taken, f"fit WESSL-ART, 7 members, {len(X)}×32, 2 threads", "1 thread", models[1].n_nodes_, len(X), 1.6)
    one, two = (FuzzyART(RHO, bounds=(0, 1), n_jobs=n).fit(X) for n in (1, 2))
    taken = in_turns({"sslart": lambda: two.predict(X), "peer": lambda: one.predict(X)}, turns)
    yield row(taken, f"predict FuzzyART, {len(X)}×32, 2 threads", "1 thread", one.n_nodes_, len(X), 1.8)


def against_scikit_learn(quick: bool) -> Iterator[Row]:
    """Semi-supervised classifiers of scikit-learn on the same mixture with 5 % of the labels."""
    X, y = mixture(2000 if quick else 5000)
    few = np.where(np.arange(len(y)) % 20, -1, y)
    peers = {
        "LabelSpreading (knn)": LabelSpreading(kernel="knn"),
        "SelfTrainingClassifier (forest of 100)": SelfTrainingClassifier(RandomForestClassifier(random_state=0)),
    }
    ours = WESSLART(7, vigilance=RHO, random_state=0)
    for name, peer in peers.items():
        taken = in_turns({"sslart": lambda: ours.fit(X, few), "peer": lambda p=peer: p.fit(X, few)}, 3, 60)
        yield row(taken, f"fit WESSL-ART, 7 members, {len(X)}×32, 5 % labelled", name, ours.n_nodes_, len(X))
        taken = in_turns({"sslart": lambda: ours.predict(X), "peer": lambda p=peer: p.predict(X)}, 3, 60)
        yield row(taken, f"predict WESSL-ART, {len(X)}×32", name, ours.n_nodes_, len(X))


def against_hyperbox_brain(quick: bool) -> Iterator[Row]:
    """The online learner of the general fuzzy min-max network, which also grows boxes in one pass."""
    X, y = mixture(500 if quick else 2000)
    ours, theirs = FuzzyARTMAP(RHO, bounds=(0, 1)), OnlineGFMM(theta=0.1)
    taken = in_turns({"sslart": lambda: ours.fit(X, y), "peer": lambda: theirs.fit(X, y)}, 2)
    yield row(taken, f"fit fuzzy ARTMAP one-to-one, {len(X)}×32", "hyperbox-brain OnlineGFMM", ours.n_nodes_, len(X))


CASES = (
    threads,
    against_artlib,
    one_at_a_time,
    against_linear_models,
    against_the_plain_scan,
    against_scikit_learn,
    against_hyperbox_brain,
)
