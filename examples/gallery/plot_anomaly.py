"""
Anomaly detection in a plant
============================

A heat exchanger of a plant has six sensors. Their values go up and down with the load of the plant and with the
weather, so that no fixed limit of a single sensor finds a fault. A :class:`~sslart.FuzzyART` learns what normal
operation looks like, without a single example of a fault, and ``score_samples`` measures how well a new sample fits.
The plant is simulated by the few lines below.
"""

import matplotlib.pyplot as plt
import numpy as np

from sslart import FuzzyART

SENSORS = ["flow", "pressure", "inlet", "outlet", "valve", "power"]
HOURS, BEGIN = np.arange(0, 48, 0.05), 8.0  # a sample every three minutes; faults begin after eight hours


def run(seed, fault=None, size=1.0):
    """Return the sensors during two days."""
    random = np.random.default_rng(seed)
    after = (HOURS >= BEGIN) * size
    slow = np.convolve(random.normal(size=len(HOURS) + 99), np.ones(100) / 10, "valid")
    load, weather = 0.6 + 0.2 * np.sin(HOURS / 3) + 0.05 * slow, np.sin(2 * np.pi * HOURS / 24)
    clogged = 0.5 * after * (fault == "clogged filter")
    leak = 0.3 * after * np.exp(-(HOURS - BEGIN) / 3) * (fault == "leak, and the valve compensates")
    flow = load * (1 - clogged) - leak
    pressure = load**2 + 2 * clogged * load
    inlet = 20 + 5 * weather + 0.3 * after * (fault == "inlet a little warmer")
    valve = load + 0.5 * leak
    outlet = inlet + 30 * valve / (flow + 0.4)
    values = np.column_stack([flow, pressure, inlet, outlet, valve, flow * (outlet - inlet)])
    return values + random.normal(size=values.shape) * [0.01, 0.01, 0.2, 0.3, 0.01, 0.2]


# %%
# Learn from five normal runs. The alarm limit comes from five further ones: one sample in a hundred of them lies below.
# Runs with faults take no part in either.
model = FuzzyART(vigilance=0.95).fit(np.vstack([run(seed) for seed in range(5)]))
limit = np.quantile(model.score_samples(np.vstack([run(seed) for seed in range(5, 10)])), 0.01)
print(f"{model.n_nodes_} boxes from {5 * len(HOURS)} normal samples; alarm below a score of {limit:.3f}")

# %%
# Three runs in which a fault begins at the dotted line.
FAULTS = ["clogged filter", "leak, and the valve compensates", "inlet a little warmer"]
fig, axes = plt.subplots(3, 1, figsize=(7.2, 6.2), sharex=True, sharey=True, layout="constrained")
for ax, fault in zip(axes, FAULTS, strict=True):
    score = model.score_samples(run(20, fault))
    alarm = score < limit
    ax.plot(HOURS, score, color="#8a8a8a", linewidth=0.8)
    ax.plot(HOURS[~alarm], score[~alarm], ".", color="#0072b2", markersize=3, label="as usual")
    ax.plot(HOURS[alarm], score[alarm], "x", color="#d55e00", markersize=4, label="alarm")
    ax.axhline(limit, color="#333333", linewidth=1, linestyle="--")
    ax.axvline(BEGIN, color="#333333", linewidth=1, linestyle=":")
    ax.set_title(fault, loc="left", fontsize=10)
axes[0].legend(loc="lower left", markerscale=2)
axes[1].set_ylabel("score: fit to the best box")
axes[-1].set_xlabel("time, hours")
plt.show()

# %%
# What to see: the clogged filter is detected as soon as it begins, and in nearly all samples from then on. The leak is
# detected at first, until the plant has compensated for it. The warmer inlet is hardly detected at all: it is within
# what the weather does every day.
#
# The same faults, from a twentieth of their size to all of it, in runs of their own: how many samples have an alarm.
SIZES = [0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0]
alarms = np.array([[model.score_samples(run(30, fault, size)) < limit for size in SIZES] for fault in FAULTS])
detected, false_alarms = alarms[:, :, HOURS >= BEGIN].mean(axis=2), alarms[:, :, HOURS < BEGIN].mean()
fig, ax = plt.subplots(figsize=(7.2, 3.6), layout="constrained")
for shares, fault, form in zip(detected, FAULTS, ("o-", "s--", "^:"), strict=True):
    ax.plot(SIZES, 100 * shares, form, label=fault)
ax.axhline(100 * false_alarms, color="#8a8a8a", linewidth=1, label="false alarms before the fault")
ax.set_xlabel("size of the fault")
ax.set_ylabel("samples with an alarm, %")
ax.legend(frameon=False)
plt.show()
print(f"Alarms before a fault began: {false_alarms:.1%} of the samples; after: {np.mean(detected[:, -1]):.0%}")

# %%
# What to see: a fault that stays is detected even where it is small, one that is compensated for only while it lasts,
# and one within the usual range never. Where a fault changes only how a sensor moves and not its values, give the model
# windows of the series instead of single samples.
