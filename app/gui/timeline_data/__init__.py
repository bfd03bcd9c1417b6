"""Folds events into what the timeline shows."""
