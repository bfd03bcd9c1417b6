"""The list of kept conversations."""
