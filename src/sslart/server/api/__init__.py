"""The HTTP API: the Open Inference Protocol, the sslart endpoints, metrics, and health."""
