"""Desktop integration outside the app's window.

- `tray.py`: the system tray icon, with its menu and notifications
"""
