"""Desktop integration outside the app's windows.

- `tray.py`: the system tray icon, with its menu and notifications
"""
