"""
A model that may say "I do not know"
====================================

There are two reasons not to answer. A sample may lie far from all labels: ``search_depth`` lets a model ask only its
best few boxes, and it stays silent if none of them has a label. Or a sample may lie between classes: ``abstain_below``
asks for a probability. Whoever gets no answer can be sent to an expert.
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
# First ``search_depth``: 20 labels, and a model of one box, one reason.
model = SSLART(random_state=0).fit(X_train, few)
CoverageCorrectnessDisplay.from_estimator(model, X_test, y_test)
plt.show()

# %%
# What to see: a model that asks only its best box answers few samples. Coverage grows with depth. Correctness is the
# share of right answers among those given: best at depth 1, and much the same after that.
#
# Then ``abstain_below`` of :class:`~sslart.AutoSSLART`, over five splits. Nothing is learnt anew: the limit is set on a
# fitted model.
LIMITS, SEEDS = np.array([0.5, 0.6, 0.7, 0.8, 0.9]), range(5)
coverage, correctness = np.empty((2, len(SEEDS), len(LIMITS)))
for row, seed in enumerate(SEEDS):
    X_train, X_test, y_train, y_test = train_test_split(data.data, y, test_size=0.5, stratify=y, random_state=seed)
    known, _ = train_test_split(np.arange(len(y_train)), train_size=20, stratify=y_train, random_state=seed)
    few = np.full(len(y_train), None)
    few[known] = y_train[known]
    model = AutoSSLART(random_state=seed).fit(X_train, few)
    for column, limit in enumerate(LIMITS):
        answers = model.set_params(abstain_below=limit).predict(X_test)
        coverage[row, column] = 100 * coverage_score(y_test, answers)
        correctness[row, column] = 100 * correctness_score(y_test, answers)

fig, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
ax.plot(coverage.T, correctness.T, color="#8a8a8a", linewidth=0.8, alpha=0.7)
ax.plot(coverage.mean(axis=0), correctness.mean(axis=0), "o-", color="#0072b2", linewidth=2)
for x, height, limit in zip(coverage.mean(axis=0), correctness.mean(axis=0), LIMITS, strict=True):
    ax.annotate(f"{limit:g}", (x, height), xytext=(2, -14), textcoords="offset points", fontsize=9)
ax.invert_xaxis()
ax.set_xlabel("coverage: samples with an answer, %")
ax.set_ylabel("correctness: right answers, % of answers")
ax.set_title("by abstain_below; thick: mean, thin: single splits", loc="left", fontsize=10)
ax.grid(alpha=0.3)
plt.show()
for limit, covered, right in zip(LIMITS, coverage.mean(axis=0), correctness.mean(axis=0), strict=True):
    print(f"abstain_below={limit:g}: {covered:5.1f} % answered, {right:.1f} % of the answers right")

# %%
# What to see: to the right fewer samples get an answer, and more of the answers are right. Where to stop is a question
# of what a wrong answer costs and what the expert's time does. The thin lines are a warning: from 20 labels a model can
# also be sure and wrong, and then the limit holds back little.
