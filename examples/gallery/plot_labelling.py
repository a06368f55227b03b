"""
Active learning: which samples to label first
=============================================

An expert can label a few samples. They can be drawn at random, or selected by active learning:
:class:`~sslart.active.QueryPool` returns the sample whose label would reduce the uncertainty most: first samples in
dense regions, later samples between the classes; every third one is chosen regardless of the predictions. ``sslart
label`` does the same on the command line.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from sslart import AutoSSLART
from sslart.active import QueryPool

X, y = load_wine(return_X_y=True)
SEEDS, N_LABELS = range(4), np.arange(1, 11)


def selected(model, samples):
    """Yield the rows to label; the model learns each label before the next row is selected."""
    pool = QueryPool(model)
    pool.add(samples)
    while queries := pool.best():
        pool.done(queries[0])
        yield queries[0].row


# %%
# Two wines have a label at the start. The labels come from the true classes of the training samples, one at a time; the
# test samples only score. Four splits.
accuracy = {"selected": [], "at random": []}
for seed in SEEDS:
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
    start, *drawn = np.split(np.random.RandomState(seed).permutation(len(y_train)), [2])
    few = np.full(len(y_train), None)  # None: no label
    few[start] = y_train[start]
    for name in accuracy:
        model = AutoSSLART(random_state=seed).fit(X_train, few)
        rows = selected(model, X_train) if name == "selected" else iter(drawn[0])
        for _ in N_LABELS:
            row = next(rows)
            model.partial_fit(X_train[[row]], y_train[[row]])
            accuracy[name].append(model.score(X_test, y_test))

# %%
looks = {"selected": ("#0072b2", "o-"), "at random": ("#d55e00", "s--")}
fig, ax = plt.subplots(figsize=(6.6, 4.2), layout="constrained")
for name, (colour, form) in looks.items():
    table = 100 * np.reshape(accuracy[name], (len(SEEDS), len(N_LABELS)))
    ax.fill_between(N_LABELS, *np.quantile(table, [0.1, 0.9], axis=0), color=colour, alpha=0.15, linewidth=0)
    ax.plot(N_LABELS, table.mean(axis=0), form, color=colour, label=name)
    print(f"{name}: " + ", ".join(f"{table[:, n - 1].mean():.1f} % with {n}" for n in (4, 7, 10)))
ax.set_xlabel("labels added")
ax.set_ylabel("accuracy on test samples, %")
ax.legend(loc="lower right")
ax.grid(alpha=0.3)
plt.show()

# %%
# What to see: the first label that is added, the third of all, is drawn at random in both ways. From the second one on,
# the same number of labels gives more accuracy if the samples are selected, and the worst splits are better. With the
# tenth label, chance has nearly caught up. Bands go from the tenth to the ninetieth per cent of the splits.
