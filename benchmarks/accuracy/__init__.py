"""Accuracy and time of fit against other classifiers, with few labels and with many: `make accuracy`."""
