"""The command palette and the keyboard shortcut sheet.

- `command.py`: creates commands from menus, settings, conversations and models
- `ranking.py`: matches commands against the typed text and orders them, favouring recently used ones
- `delegate.py`, `palette.py`: the floating search field with its list of commands
- `shortcut_sheet.py`: collects all shortcuts in groups, and shows them in a dialog
"""
