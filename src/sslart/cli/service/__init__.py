"""Models of a service of `sslart serve`, for the commands that work on them."""
