"""The frame around the panes: menus, pickers, messages and the status line.

- `key_routing.py`: where each key goes: to a control, into the message field, or to the talk button
- `menu.py`: the menus and their shortcuts
- `top_bar.py`: the title, the model pill and the switches of the panes
- `model_popover.py`: all models, and how the model answers and is heard
- `message_bar.py`, `message_row.py`: messages with a button
- `panes.py`: which panes are shown, and how large
- `status_line.py`: the line at the foot
- `instance.py`: one running app per user, and the commands that other processes send to it
"""
