"""Runs the guided demo: questions, models, a change of model in mid-answer, and the result."""
