"""What widgets tell the talk button about the space bar."""

TALKS_WHEN_EMPTY = "talksWhenEmpty"
"""A property of a text field in which the space bar talks as long as nothing is typed."""
