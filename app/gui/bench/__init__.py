"""Benches of the window's smoothness."""
