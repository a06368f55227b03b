"""`sslart serve` and `sslart studio`, and models of a service for the commands that work on them."""
