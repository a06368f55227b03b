"""Implementation of `sslart.active`: the value of a label, and the learning curve."""
