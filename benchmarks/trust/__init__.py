"""Promises of models, checked on samples that they have not seen: `make trust`."""
