"""Schemas of requests and responses, published at /openapi.json."""
