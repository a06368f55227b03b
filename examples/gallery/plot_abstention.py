"""
Abstention
==========

There are two reasons to abstain. A sample may lie far from all labels: with ``search_depth`` a model searches only its
best few boxes, and abstains if none of them has a label. Or a sample may lie between classes: ``abstain_below`` is the
lowest probability of a prediction. Samples without a prediction can be sent to an expert.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from sslart import SSLART, AutoSSLART
from sslart.metrics import correctness_score, coverage_score
from sslart.plotting import CoverageCorrectnessDisplay

data = load_breast_cancer()
y = data.target_names[data.target]
X_train, X_test, y_train, y_test = train_test_split(data.data, y, test_size=0.5, stratify=y, random_state=0)
known, _ = train_test_split(np.arange(len(y_train)), train_size=20, stratify=y_train, random_state=0)
few = np.full(len(y_train), None)
few[known] = y_train[known]

# %%
# First ``search_depth``: 20 labels, and a model whose predictions follow from one box each.
model = SSLART(random_state=0).fit(X_train, few)
CoverageCorrectnessDisplay.from_estimator(model, X_test, y_test)
plt.show()

# %%
# What to see: a model that searches only its best box predicts few samples. Coverage grows with depth. Correctness is
# the share of right predictions among those made: best at depth 1, and much the same after that.
#
# Then ``abstain_below`` of :class:`~sslart.AutoSSLART`, over five splits. Nothing is learnt again: the limit is set on
# a fitted model.
LIMITS, SEEDS = np.array([0.5, 0.6, 0.7, 0.8, 0.9]), range(5)
coverage, correctness = np.empty((2, len(SEEDS), len(LIMITS)))
for row, seed in enumerate(SEEDS):
    X_train, X_test, y_train, y_test = train_test_split(data.data, y, test_size=0.5, stratify=y, random_state=seed)
    known, _ = train_test_split(np.arange(len(y_train)), train_size=20, stratify=y_train, random_state=seed)
    few = np.full(len(y_train), None)
    few[known] = y_train[known]
    model = AutoSSLART(random_state=seed).fit(X_train, few)
    for column, limit in enumerate(LIMITS):
        predicted = model.set_params(abstain_below=limit).predict(X_test)
        coverage[row, column] = 100 * coverage_score(y_test, predicted)
        correctness[row, column] = 100 * correctness_score(y_test, predicted)

fig, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
ax.plot(coverage.T, correctness.T, color="#8a8a8a", linewidth=0.8, alpha=0.7)
ax.plot(coverage.mean(axis=0), correctness.mean(axis=0), "o-", color="#0072b2", linewidth=2)
for x, height, limit in zip(coverage.mean(axis=0), correctness.mean(axis=0), LIMITS, strict=True):
    ax.annotate(f"{limit:g}", (x, height), xytext=(2, -14), textcoords="offset points", fontsize=9)
ax.invert_xaxis()
ax.set_xlabel("coverage: samples with a prediction, %")
ax.set_ylabel("correctness: right predictions, % of these")
ax.set_title("by abstain_below; thick: mean, thin: single splits", loc="left", fontsize=10)
ax.grid(alpha=0.3)
plt.show()
for limit, covered, right in zip(LIMITS, coverage.mean(axis=0), correctness.mean(axis=0), strict=True):
    print(f"abstain_below={limit:g}: {covered:5.1f} % predicted, {right:.1f} % of these right")

# %%
# What to see: to the right fewer samples get a prediction, and more of the predictions are right. Where to stop depends
# on the cost of a wrong prediction and of the expert's time. The thin lines are a warning: from 20 labels a model can
# also have high probabilities and be wrong, and then the limit has little effect.
