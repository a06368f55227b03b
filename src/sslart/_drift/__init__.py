"""Drift detection on streams: adaptive windows over measurements taken before samples are learnt, and events."""
