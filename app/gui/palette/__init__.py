"""The command palette and the keyboard shortcut sheet.

- `command.py`: makes commands from menus, settings and their values, conversations and models
- `ranking.py`: finds the commands that match the typed text and orders them, favouring recently used ones
- `delegate.py`, `palette.py`: the floating search field with its list of commands
- `shortcut_sheet.py`: collects all shortcuts in groups, and shows them in a dialog
"""
