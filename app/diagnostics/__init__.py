"""Logs, redacts secrets, and writes the report for whoever helps with a fault."""
