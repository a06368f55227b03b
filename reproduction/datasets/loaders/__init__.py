"""One loader per data set."""
