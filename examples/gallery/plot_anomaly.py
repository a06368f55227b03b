"""
Is the plant still running as usual?
====================================

The Tennessee Eastman process is a simulated chemical plant with 52 measured variables and 21 kinds of fault. A
:class:`~sslart.FuzzyART` learns what normal operation looks like, without a single example of a fault, and
``score_samples`` measures how well a new sample fits. The data is not part of scikit-learn:
:func:`sslart.datasets.load_tep` finds or downloads it.
"""

import matplotlib.pyplot as plt
import numpy as np

from sslart import FuzzyART
from sslart.datasets import load_tep

plant = load_tep()
runs = {name: plant.data[plant.run == name] for name in np.unique(plant.run)}

# %%
# Learn from the normal training run. The alarm limit comes from the normal test run: one sample in a hundred of it lies
# below. Runs with faults take no part in either.
model = FuzzyART(vigilance=0.9).fit(runs["d00"])
limit = np.quantile(model.score_samples(runs["d00_te"]), 0.01)
print(f"{model.n_nodes_} boxes from {len(runs['d00'])} normal samples; alarm below a score of {limit:.3f}")

# %%
# Three test runs, a sample every three minutes. In each the fault begins after eight hours, at the dotted line.
FAULTS = {
    1: "composition of a feed changes",
    5: "cooling water of the condenser warms",
    3: "temperature of a feed changes",
}
hours = np.arange(len(runs["d01_te"])) * 3 / 60
fig, axes = plt.subplots(3, 1, figsize=(7.2, 6.2), sharex=True, sharey=True, layout="constrained")
for ax, (fault, what) in zip(axes, FAULTS.items(), strict=True):
    score = model.score_samples(runs[f"d{fault:02}_te"])
    alarm = score < limit
    ax.plot(hours, score, color="#8a8a8a", linewidth=0.8)
    ax.plot(hours[~alarm], score[~alarm], ".", color="#0072b2", markersize=3, label="as usual")
    ax.plot(hours[alarm], score[alarm], "x", color="#d55e00", markersize=4, label="alarm")
    ax.axhline(limit, color="#333333", linewidth=1, linestyle="--")
    ax.axvline(8, color="#333333", linewidth=1, linestyle=":")
    ax.set_title(f"fault {fault}: {what}", loc="left", fontsize=10)
axes[0].legend(loc="lower left", markerscale=2)
axes[1].set_ylabel("score: match of the best box")
axes[-1].set_xlabel("time, hours")
plt.show()

# %%
# What to see: fault 1 is detected soon after it begins, and in nearly all samples from then on. Fault 5 is detected at
# first, and then the control loops compensate for it. Fault 3 is hardly detected at all: single samples are much the
# same with it as without.
#
# All 21 faults: the share of samples after the fault began that raise an alarm.
NUMBERS = np.arange(1, 22)
detected = [np.mean(model.score_samples(runs[f"d{fault:02}_te"][160:]) < limit) for fault in NUMBERS]
false_alarms = np.mean([model.score_samples(runs[f"d{fault:02}_te"][:160]) < limit for fault in NUMBERS])
order = np.argsort(detected)[::-1]
fig, ax = plt.subplots(figsize=(7.2, 3.6), layout="constrained")
ax.bar(range(21), 100 * np.array(detected)[order], color="#0072b2")
ax.axhline(100 * false_alarms, color="#d55e00", linestyle="--", label="false alarms before the fault")
ax.set_xticks(range(21), NUMBERS[order])
ax.set_xlabel("fault")
ax.set_ylabel("samples with an alarm, %")
ax.legend(frameon=False)
plt.show()
print(f"Alarms before a fault began: {false_alarms:.1%} of the samples; after: {np.mean(detected):.0%}")

# %%
# What to see: some faults are detected all the time, some only in part, and some never. Where a fault changes only how
# a variable moves and not its values, give the model windows of the series instead of single samples.
