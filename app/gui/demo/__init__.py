"""The demo in the window."""
