"""The frame around the panes: menus, pickers, messages and the status line.

- `menu.py`: the menus and their shortcuts
- `setup_bar.py`: the pickers for model, answer mode and front-end
- `message_bar.py`, `message_row.py`: messages with a button
- `panes.py`: which panes are shown, and how large
- `status_line.py`: the line at the foot
- `instance.py`: one running app per user, and the commands that other processes send to it
"""
