"""
Calibration of probabilities
============================

Of all samples to which a model gives 80 %, eight in ten should be of that class. If so, it is calibrated, and one can
decide by its probabilities: whom to treat, which alarm to follow. A reliability diagram shows it: on the diagonal the
probability equals the share of right predictions.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from sslart import AutoSSLART

# %%
# Two data sets with few labels, two splits each. AutoSSLART learns from all training samples and calibrates its
# probabilities by leave-one-out on the labels: no samples are held back for it. The random forest learns from the
# labelled samples. For each test sample we record the probability of the prediction, and whether it was right.
SETS = {"breast cancer, 30 labels": (load_breast_cancer, 30), "digits, 60 labels": (load_digits, 60)}
SEEDS, BINS = range(2), np.linspace(0, 1, 6)
noted = {}
for title, (load, n_labels) in SETS.items():
    X, y = load(return_X_y=True)
    for seed in SEEDS:
        X_train, X_test, y_train, y_test = train_test_split(
            X, y, train_size=0.3, test_size=0.5, stratify=y, random_state=seed
        )
        known, _ = train_test_split(np.arange(len(y_train)), train_size=n_labels, stratify=y_train, random_state=seed)
        few = np.full(len(y_train), -1)  # -1: no label
        few[known] = y_train[known]
        for name, model in {
            "AutoSSLART": AutoSSLART(random_state=seed).fit(X_train, few),
            "random forest": RandomForestClassifier(random_state=seed).fit(X_train[known], y_train[known]),
        }.items():
            probabilities = model.predict_proba(X_test)
            right = model.classes_[probabilities.argmax(axis=1)] == y_test
            noted.setdefault((title, name), []).append((probabilities.max(axis=1), right))

# %%
# Above the diagonal a model is right more often than its probabilities state, below it less often. The size of a mark
# shows how many samples it stands for. The calibration error printed is their mean distance from the diagonal, weighted
# by size.
looks = {"AutoSSLART": ("#0072b2", "o", "-"), "random forest": ("#d55e00", "s", "--")}
fig, axes = plt.subplots(1, 2, figsize=(9.2, 4.4), sharex=True, sharey=True, layout="constrained")
for ax, title in zip(axes, SETS, strict=True):
    ax.plot([0, 100], [0, 100], color="#8a8a8a", linewidth=1, linestyle=":")
    for name, (colour, mark, dash) in looks.items():
        sure, right = (np.concatenate(parts) for parts in zip(*noted[title, name], strict=True))
        bins = np.digitize(sure, BINS[1:-1])
        used, share = np.unique(bins, return_counts=True)
        share = share / len(bins)
        stated, found = np.array([(sure[bins == one].mean(), right[bins == one].mean()) for one in used]).T
        error = np.sum(share * np.abs(stated - found))
        print(f"{title}, {name}: {right.mean():.1%} right, mean p {sure.mean():.1%}, calibration error {error:.1%}")
        ax.plot(100 * stated, 100 * found, dash, color=colour, linewidth=1)
        ax.scatter(100 * stated, 100 * found, 8 + 400 * share, colour, marker=mark, alpha=0.8, edgecolors="w")
        ax.plot([], [], dash + mark, color=colour, label=name)
    ax.set_title(title, loc="left", fontsize=10)
    ax.set_xlabel("probability of the prediction, %")
    ax.grid(alpha=0.3)
axes[0].set_ylabel("right predictions among these, %")
axes[1].legend(loc="lower right")
plt.show()

# %%
# What to see: the forest is right more often than its probabilities state, on digits by far: each of its trees has
# learnt from few labels, and their votes scatter. AutoSSLART lies near the diagonal where most of its predictions are.
# Its small marks lie on both sides of the line: they stand for few samples.
