"""Removes the app's own voice from the microphone."""
