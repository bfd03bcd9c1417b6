"""Handling of untrusted input: limits, and readers for text, JSON, files and HTTP responses that enforce them."""
