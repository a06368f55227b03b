"""Basis functions of evidence: one file per family. `families.py` registers them."""
