"""Makes the tables that the app ships. Run by hand, never by the app."""
