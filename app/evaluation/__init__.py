"""Measures the tandem: benches that print a table."""
