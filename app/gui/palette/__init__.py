"""The command palette, and the sheet of all keys.

- `command.py`: what can be run, and where it comes from: menus, settings, conversations, models
- `matching.py`: which commands fit what was typed, and how well
- `ranking.py`: their order, the recently used first
- `delegate.py`, `palette.py`: the list and the floating field
- `key_caps.py`: keys, painted as caps
- `shortcuts.py`, `shortcut_sheet.py`: all keys in groups, and the dialog that shows them
"""
