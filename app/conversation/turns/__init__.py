"""Who has the floor: the user's turns, from voice windows to commands to the front-end."""
