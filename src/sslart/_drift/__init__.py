"""Drift of a stream: adaptive windows over what is measured of samples before they are learnt, and events."""
