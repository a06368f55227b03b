"""What `sslart.active` is made of: the value of a label, and the learning curve."""
