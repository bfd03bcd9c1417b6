"""The app on the user's desktop beside its window.

- `tray.py`: the icon in the system's tray, with its menu and notifications
"""
