"""The main window's frame: menus, pickers, messages and the status line.

- `key_routing.py`: routes key presses to a control, the message field or the talk button
- `commands.py`: the window's commands, their shortcuts and the menu
- `top_bar.py`: the title, the model pill and the buttons that toggle panes
- `model_popover.py`: the popover for choosing the model, the answer mode and the front-end
- `message_bar.py`, `message_row.py`: messages to the user, with buttons
- `panes.py`: the visibility and sizes of the panes
- `status_line.py`: the status line at the bottom
- `about_dialog.py`: the licences and the guide
- `instance.py`: enforces a single instance per user and receives commands from other processes
"""
