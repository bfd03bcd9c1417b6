"""A whole talk in simulated time: everything scripted, the same to the byte each time."""
