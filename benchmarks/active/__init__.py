"""Choice of samples to label: the questions of sslart against other strategies on the same model: `make active`."""
