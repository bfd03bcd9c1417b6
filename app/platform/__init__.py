"""Deals with the machine under the app: processes, files, paths, hardware, and the single running instance."""
