"""Accuracy against the classifiers of scikit-learn, on 49 data sets with few labels: `make accuracy`."""
