"""Hotkeys on X11, Wayland and Windows, and push-to-talk."""
