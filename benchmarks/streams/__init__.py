"""Benchmark of learning from streams: prequential evaluation, with few labels and with all."""
