"""
New classes in a stream
=======================

Samples come one after another, one in three with a label, and the model learns as they come. Digits 8 and 9 do not
occur in the first half of this stream. Each batch is first predicted and then learnt, so every prediction is for
samples that the model has not learnt.
"""

import copy

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from sslart import SSLART

# %%
# The stream: 700 digits from 0 to 7, then as many of all ten.
X, y = load_digits(return_X_y=True)
random = np.random.RandomState(0)
start = random.permutation(np.flatnonzero(y < 8))[:700]
rest = random.permutation(np.setdiff1d(np.arange(len(y)), start))[:700]
stream = np.concatenate([start, rest])
X, y = X[stream], y[stream]
given = np.where(random.uniform(size=len(y)) < 1 / 3, y, -1)  # -1: no label

# %%
# New classes need not be announced, and nothing is kept but the boxes. Beside the model that continues learning, a copy
# of it stops when the new digits come. The bounds are those of a pixel: one that was always dark may still vary.
# (:class:`~sslart.AutoSSLART` learns from streams as well, and keeps labelled samples.)
BATCH = 50
model = SSLART(bounds=(0, 16), random_state=0).partial_fit(X[:BATCH], given[:BATCH])
predicted = {"continues learning": np.full(len(y), -1), "stops at the dotted line": np.full(len(y), -1)}
for begin in range(BATCH, len(y), BATCH):
    batch = slice(begin, begin + BATCH)
    if begin == len(start):
        stopped = copy.deepcopy(model)
    predicted["continues learning"][batch] = model.predict(X[batch])
    predicted["stops at the dotted line"][batch] = (stopped if begin >= len(start) else model).predict(X[batch])
    model.partial_fit(X[batch], given[batch])
print(f"{stopped.n_nodes_} boxes for classes {stopped.classes_.tolist()}")
print(f"{model.n_nodes_} boxes for classes {model.classes_.tolist()}")

# %%
# Accuracy over the last 200 predictions at each time, for the digits known from the start and for the late ones.
looks = {"continues learning": ("#0072b2", "-"), "stops at the dotted line": ("#d55e00", "--")}
fig, axes = plt.subplots(1, 2, figsize=(9.2, 3.8), sharey=True, layout="constrained")
ends = np.arange(2 * BATCH, len(y) + 1, BATCH)
for ax, kind, mask in [(axes[0], "digits 0 to 7", y < 8), (axes[1], "digits 8 and 9", y >= 8)]:
    for name, (colour, dash) in looks.items():
        windows = [np.arange(max(BATCH, end - 200), end) for end in ends]
        windows = [window[mask[window]] for window in windows]
        right = [np.mean(predicted[name][window] == y[window]) if len(window) else np.nan for window in windows]
        ax.plot(ends, 100 * np.array(right), dash, color=colour, label=name)
    ax.axvline(len(start), color="#8a8a8a", linewidth=1, linestyle=":")
    ax.annotate("8 and 9 begin", (len(start), 3), xytext=(-4, 0), textcoords="offset points", ha="right", fontsize=9)
    ax.set_title(kind, loc="left", fontsize=10)
    ax.set_xlabel("samples learnt")
    ax.set_xlim(0, len(y))
    ax.set_ylim(0, 102)
    ax.grid(alpha=0.3)
axes[0].set_ylabel("right among the last 200 predictions, %")
axes[0].legend(loc="lower left", bbox_to_anchor=(0.0, 0.1))
plt.show()

# %%
# What to see: the new digits are not known in their first batch. The model that continues learns them as their labels
# come in, and the old ones are kept: its line on the left does not fall below that of the copy.
for name, classes in predicted.items():
    print(f"{name}: {np.mean(classes[-200:] == y[-200:]):.0%} of the last 200 predictions are right")
