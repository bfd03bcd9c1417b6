"""The main window, its menus, messages and dialogs, and the event loop."""
