"""The service over HTTP: the Open Inference Protocol, our own paths, metrics and health."""
