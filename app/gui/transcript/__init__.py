"""The pane of the transcript and the field to type in."""
