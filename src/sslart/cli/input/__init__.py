"""Reading of streams: lines and rows on arrival, and the option for their encoding."""
