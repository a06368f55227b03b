"""
Concept drift in a stream
=========================

A machine has three sensors. One of them is replaced, and later the states of the machine get other names. The model
finds both changes by itself, and ``half_life="auto"`` lets it forget what is no longer true.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from sslart import AutoSSLART
from sslart.plotting import DriftDisplay

# %%
# The stream: 4,000 samples, one in ten with a label. At sample 1,500 the sensor of the flow is replaced; at sample
# 2,800 the labels change places.
N, REPLACED, RENAMED, BATCH = 4000, 1500, 2800, 50
random = np.random.default_rng(0)
places, own = random.random((9, 3)), random.integers(9, size=N)
X = pd.DataFrame(places[own] + random.normal(scale=0.05, size=(N, 3)), columns=["heat", "flow", "noise"])
X.loc[REPLACED:, "flow"] += 0.8
y = np.where(np.arange(N) < RENAMED, own % 3, (own + 1) % 3)
given = np.where(random.random(N) < 0.1, y, -1)  # -1: no label

# %%
# Each batch is first predicted and then learnt, by a model that forgets nothing and by one that lets the stream choose
# how fast labels are forgotten.
models = {
    "forgets nothing": AutoSSLART(random_state=0),
    'half_life="auto"': AutoSSLART(half_life="auto", random_state=0),
}
right = {}
for name, model in models.items():
    model.partial_fit(X[:BATCH], given[:BATCH])
    found = []
    for start in range(BATCH, N, BATCH):
        batch = slice(start, start + BATCH)
        found.append(np.mean(model.predict(X[batch]) == y[batch]))
        model.partial_fit(X[batch], given[batch])
    right[name] = np.array(found)

# %%
# What was found, with the features that moved:
for event in models['half_life="auto"'].drift_:
    print(event)

# %%
# The measures that these events are made of. Numbered lines are events.
DriftDisplay.from_estimator(models['half_life="auto"'])
plt.show()

# %%
# Accuracy over the last 400 predictions at each time.
fig, ax = plt.subplots(figsize=(9.2, 3.6), layout="constrained")
ends = np.arange(2 * BATCH, N + 1, BATCH)
for (name, values), colour, dash in zip(right.items(), ("#d55e00", "#0072b2"), ("--", "-"), strict=True):
    means = [100 * values[max(0, end - 8) : end].mean() for end in range(1, len(values) + 1)]
    ax.plot(ends, means, dash, color=colour, label=name)
for place, text in ((REPLACED, "another sensor"), (RENAMED, "other labels")):
    ax.axvline(place, color="#8a8a8a", linewidth=1, linestyle=":")
    ax.annotate(text, (place, 3), xytext=(-4, 0), textcoords="offset points", ha="right", fontsize=9)
ax.set(xlabel="samples learnt", ylabel="right among the last 400, %", xlim=(0, N), ylim=(0, 102))
ax.grid(alpha=0.3)
ax.legend(loc="lower left", bbox_to_anchor=(0.0, 0.1))
plt.show()

# %%
# What to see: a new sensor makes samples novel, which needs new boxes and labels. Labels that change places contradict
# those before, and the model that forgets them learns the new ones much sooner.
for name, values in right.items():
    print(f"{name}: {values[RENAMED // BATCH :].mean():.0%} right after the labels have changed")
