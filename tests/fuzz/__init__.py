"""Hostile input for every boundary of the app: run small with the tests, and long by `python -m tests.fuzz`."""
