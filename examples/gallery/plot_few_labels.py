"""
Accuracy by number of labels
============================

Pictures of handwritten digits are cheap, and somebody has to look at each to label it. Of scikit-learn's digits 300 are
to learn from, and only a few of them keep their label; 500 others are the test.

Two of the models learn from the unlabelled pictures too: :class:`~sslart.AutoSSLART` and label spreading. The other two
learn from the labelled ones only. All keep their default settings, but for the neighbours of label spreading: with
fewer, some pictures have no path to a label.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC

from sslart import AutoSSLART

X, y = load_digits(return_X_y=True)
SEEDS, N_LABELS = range(3), [20, 40, 80]

semi_supervised = {
    "AutoSSLART": lambda seed: AutoSSLART(random_state=seed),
    "label spreading": lambda seed: LabelSpreading(kernel="knn", n_neighbors=10),
}
supervised = {
    "logistic regression": lambda seed: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "support vectors": lambda seed: SVC(),
}

# %%
# Every class keeps its share of the labels. Test samples and their labels are used for the score only.
accuracy = {name: np.empty((len(SEEDS), len(N_LABELS))) for name in [*semi_supervised, *supervised]}
for row, seed in enumerate(SEEDS):
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, train_size=300, test_size=500, stratify=y, random_state=seed
    )
    for column, n in enumerate(N_LABELS):
        known, _ = train_test_split(np.arange(len(y_train)), train_size=n, stratify=y_train, random_state=seed)
        few = np.full(len(y_train), -1)  # -1: no label
        few[known] = y_train[known]
        for name, make in semi_supervised.items():
            accuracy[name][row, column] = make(seed).fit(X_train, few).score(X_test, y_test)
        for name, make in supervised.items():
            accuracy[name][row, column] = make(seed).fit(X_train[known], y_train[known]).score(X_test, y_test)

print(f"Mean accuracy in % over {len(SEEDS)} splits, by number of labels")
print(f"{'':20s}" + "".join(f"{n:7d}" for n in N_LABELS))
for name, values in accuracy.items():
    print(f"{name:20s}" + "".join(f"{mean:7.1f}" for mean in 100 * values.mean(axis=0)))

# %%
# What to see: the two models that use the unlabelled pictures lie well above the other two while labels are few, and
# the gap closes as labels come in. Both rely on pictures of one digit being close together; where classes are no
# clusters, unlabelled samples help less. Small marks are the single splits: with 20 and 40 labels those of the two
# overlap, so the difference between them means little there.
looks = {
    "AutoSSLART": ("#0072b2", "o-"),
    "label spreading": ("#009e73", "^-."),
    "logistic regression": ("#cc79a7", "D:"),
    "support vectors": ("#d55e00", "s--"),
}
fig, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
for name, (colour, form) in looks.items():
    ax.plot(N_LABELS, 100 * accuracy[name].mean(axis=0), form, color=colour, label=name)
    ax.plot(N_LABELS, 100 * accuracy[name].T, form[0], color=colour, markersize=2.5, alpha=0.6)
ax.set_xscale("log", base=2)
ax.set_xticks(N_LABELS, [str(n) for n in N_LABELS])
ax.set_xlabel(f"labels, of {len(y_train)} training samples")
ax.set_ylabel("accuracy on test samples, %")
ax.grid(alpha=0.3)
ax.legend(loc="lower right")
plt.show()
