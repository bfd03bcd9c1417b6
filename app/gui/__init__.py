"""The window: panes and their models. No engine logic; it commands a session and reads its events."""
