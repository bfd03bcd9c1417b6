"""The app on the user's desktop beside its window.

- `tray_picture.py`: the app's icon with a dot that tells its state
- `tray.py`: the icon in the system's tray, with its menu and notifications
- `answer_notice.py`: the first words of an answer, for a notification
"""
