"""The main window's frame: menus, pickers, messages and the status line.

- `key_routing.py`: routes key presses to a control, the message field or the talk button
- `menu.py`: the menus and their shortcuts
- `top_bar.py`: the title, the model pill and the buttons that toggle panes
- `model_popover.py`: the model list, the answer mode and the front-end
- `message_bar.py`, `message_row.py`: messages to the user, with buttons
- `panes.py`: the visibility and sizes of the panes
- `status_line.py`: the line at the bottom
- `instance.py`: a single instance per user, and commands from other processes
"""
