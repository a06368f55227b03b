"""Lines and rows of a stream as they come in, and the option for their encoding."""
