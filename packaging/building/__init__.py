"""Build what users install, the same bytes from the same commit each time."""
