"""A service that predicts, explains and learns over HTTP, and loses nothing that it has acknowledged."""
