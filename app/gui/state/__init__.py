"""What the window knows of the running session, and the objects that change it."""
