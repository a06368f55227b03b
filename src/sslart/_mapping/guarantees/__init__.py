"""Conformal guarantees from leave-one-out predictions: prediction sets, and bounds on the error."""
