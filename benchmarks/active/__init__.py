"""Active learning: query strategy of sslart compared with others on the same model: `make active`."""
