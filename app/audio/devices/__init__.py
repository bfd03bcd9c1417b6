"""Lists, chooses, watches and replaces microphones and loudspeakers."""
