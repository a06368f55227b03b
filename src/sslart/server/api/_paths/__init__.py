"""Endpoints of the HTTP API, one file per purpose."""
