"""Declares every setting once, and loads and saves them."""
