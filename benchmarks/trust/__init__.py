"""Reported accuracy and guarantees of models, checked on held-out samples: `make trust`."""
