"""The pane of oracle revisions."""
