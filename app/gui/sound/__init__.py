"""Devices, levels, the talk button, and the sound dialog."""
