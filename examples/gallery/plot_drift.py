"""
A stream that changes
=====================

A reader of handwritten digits gets zeros to fours at first, and then fives to nines as well. `partial_fit` finds the
change by itself, and the picture shows when, and in what.
"""

# %%
# The stream: 2,000 digits from 0 to 4, then 2,000 of all ten. Each gets its label after it was predicted.
import numpy as np
from sklearn.datasets import load_digits

from sslart import SSLART
from sslart.plotting import DriftDisplay

X, y = load_digits(return_X_y=True)
random = np.random.default_rng(0)
low = np.flatnonzero(y < 5)
order = np.concatenate([random.choice(low, 2000), random.choice(len(y), 2000)])
stream = X[order] + random.normal(scale=0.5, size=(4000, 64))
labels = y[order]

# %%
# Samples come a hundred at a time, and are learnt as they come.
model = SSLART(vigilance=0.8, bounds=(-2, 18))
for start in range(0, 4000, 100):
    model.partial_fit(stream[start : start + 100], labels[start : start + 100])

for event in model.drift_:
    print(event)

# %%
# Novelty rises where the new digits come, and falls when they have been learnt. The labels show the new classes.
DriftDisplay.from_estimator(model)
