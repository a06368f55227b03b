"""What is done at each path: one file for the paths of one purpose."""
