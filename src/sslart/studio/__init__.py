"""A page in the browser to label, understand and watch models of the service: `sslart studio`."""
