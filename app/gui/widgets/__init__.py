"""Widgets and helpers that all panes share."""
