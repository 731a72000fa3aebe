"""Benchmarks: speed and memory live here, never in a test. Each runs as `python -m bench.NAME`."""
