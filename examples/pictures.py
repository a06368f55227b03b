"""Draw the figures of README.md, docs/explanations.md and the guide; needs the extra `plot`."""

from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
from sklearn.datasets import load_breast_cancer

from sslart import SSLART, WESSLART, AutoSSLART, plotting

IMAGES = Path(__file__).parent.parent / "docs" / "images"
NAMES = ["mean radius", "mean texture", "mean concavity", "worst area", "worst smoothness", "worst symmetry"]

data = load_breast_cancer(as_frame=True)
X = data.data[NAMES]
truth = data.target_names[data.target]
y = truth.astype(object)
y[[i for i in range(len(y)) if i % 10]] = None

model = SSLART(vigilance=0.65, random_state=0).fit(X, y)
auto = AutoSSLART(random_state=0).fit(X, y)
ensemble = WESSLART(vigilance=0.65, random_state=0).fit(X, y)

random = np.random.default_rng(0)
places, own = random.random((12, 3)), random.integers(12, size=9000)
stream, states = places[own] + random.normal(scale=0.04, size=(9000, 3)), own % 3
stream[3000:, 1] += 0.8
states[6000:] = (states[6000:] + 1) % 3
watched = SSLART(vigilance=0.8).partial_fit(stream, np.array(["good", "worn", "old"])[states])

displays = {
    "boxes": plotting.BoxesDisplay.from_estimator(model, X, y, features=("mean radius", "mean concavity")),
    "rules": plotting.RuleHeatmapDisplay.from_estimator(model),
    "parallel": plotting.RuleParallelDisplay.from_estimator(model),
    "reason": plotting.ReasonDisplay.from_estimator(model, X.iloc[[3]]),
    "evidence": plotting.EvidenceDisplay.from_estimator(auto, X.iloc[[229]]),
    "importance": plotting.ImportanceDisplay.from_estimator(auto),
    "dependence": plotting.DependenceDisplay.from_estimator(auto, X, "worst area"),
    "votes": plotting.VotesDisplay.from_estimator(ensemble, X.iloc[[229]]),
    "coverage": plotting.CoverageCorrectnessDisplay.from_estimator(model, X, truth),
    "growth": plotting.GrowthDisplay.from_estimator(model, X, y),
    "drift": plotting.DriftDisplay.from_estimator(watched),
}
for name, display in displays.items():
    display.figure_.savefig(IMAGES / f"{name}.png", dpi=110)
