"""What can be promised for new samples, by conformal prediction on left-out labels: sets of classes, and errors."""
