"""Imbalanced classes: sslart, balanced forests and balanced logistic regression on the imbalanced sets of KEEL."""
