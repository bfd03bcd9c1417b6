"""Conversations on disk: what was said, when it was said, for as long as the user wants."""
