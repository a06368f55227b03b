"""
Rules of a model
================

Two kinds of rules: few and short ones that agree with what a model predicts, and one for each of its boxes. Here it
learns three cultivars of wine from five measurements, with half of the labels, and is tested on samples that it has not
learnt.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from sslart import SSLART
from sslart.plotting import RuleHeatmapDisplay, RuleParallelDisplay

wine = load_wine(as_frame=True)
X = wine.data[["alcohol", "flavanoids", "color_intensity", "hue", "proline"]]
y = np.array(["cultivar A", "cultivar B", "cultivar C"])[wine.target]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
few = np.where(np.arange(len(y_train)) % 2 == 0, y_train, None)

# %%
# Vigilance is low, so that boxes are large and few.
model = SSLART(vigilance=0.6, random_state=0).fit(X_train, few)

# %%
# Few rules that agree with the model. Each wine meets exactly one of them.
summary = model.rules(X_train, few, max_rules=5)
print(summary.to_text())
print(f"The model predicts the same for {summary.fidelity(X_test):.0%} of the test samples.")

# %%
# A box is a rule too: if each value lies between two bounds, then this class. A model of few boxes can be read from end
# to end.
rules = model.rules(kind="boxes")
print(f"{len(rules)} rules; right on {model.score(X_test, y_test):.0%} of {len(y_test)} test samples")
print(rules[:2].to_text())

# %%
# All of them as a table. Levels go from 1, very small, to 5, very large; “any” is no condition.
rules.to_frame()

# %%
# The same as a picture: one row per rule, with its class and, in brackets, its samples. The coloured part of a cell is
# what the rule allows.
RuleHeatmapDisplay.from_rules(rules)
plt.show()

# %%
# What to see: follow one column down. Where the coloured parts of one cultivar are left and those of another right,
# that measurement separates them. The bars below show the four largest rules over the range of each feature.
RuleParallelDisplay.from_rules(rules, max_rules=4)
plt.show()

# %%
# Rules can be made shorter: ``simplify`` drops conditions and merges boxes as long as no prediction for the samples
# that it is given changes. It is given the training samples; the test samples then show what that cost.
short = model.rules(kind="boxes", simplify=(X_train, few))
for name, some in {"as learnt": rules, "simplified": short}.items():
    n_conditions = sum(not condition.full_range for rule in some for condition in rule.conditions)
    right = np.mean(some.predict(X_test) == y_test)
    print(f"{name}: {len(some)} rules, {n_conditions} conditions, right on {right:.0%} of the test samples")
print(short[:2].to_text())
