"""
Feature importances
===================

With evidence mapping, every prediction is a sum of contributions of features: exact Shapley values. Their mean size is
the importance of a feature, and a contribution against its value shows how the model uses the feature. Neither needs a
label: both are about the model.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from sslart import AutoSSLART
from sslart.plotting import DependenceDisplay, ImportanceDisplay

# %%
# Wines of three cultivars; one in six has a label.
data = load_wine(as_frame=True)
X = data.data.rename(columns=lambda name: name.removesuffix("_of_diluted_wines").replace("_", " "))
y = np.array(["Barolo", "Grignolino", "Barbera"], dtype=object)[data.target]
y[np.arange(len(y)) % 6 > 0] = None  # None: no label
model = AutoSSLART(random_state=0).fit(X, y)

# %%
# The table has which values raise the score of which class. The mean is over samples drawn from the boxes of the model.
found = model.feature_importances()
print(found)

# %%
# As a picture: a bar has a part for each class, with a sign for its direction.
ImportanceDisplay.from_importances(found)
plt.show()

# %%
# The two most important features against their values. A value raises the score of a class where the points lie above
# 0, compared with an average wine.
first, second = (found.feature_names[column] for column in found.order[:2])
fig, axes = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained")
DependenceDisplay.from_estimator(model, X, first, ax=axes[0])
DependenceDisplay.from_estimator(model, X, second, ax=axes[1])
plt.show()

# %%
# What to see: one class gains where another loses, and the curves are not straight: between two classes there is a
# range in which the score changes fast, and beyond it little. Features that carry the same information share their
# importance, so that a short bar does not mean that a feature has nothing to do with the class.
