"""Global hotkeys, which work while another window has the focus, and the logic of the talk button.

- `hotkey`: one key combination, read from Qt's portable text; which ones are refused; the grabbers' interface
- `x11`, `windows`, `portal`: grabbers for X11, Windows and Wayland's desktop portal
- `manager`: picks the grabber of this desktop and keeps the keys for talking and muting
- `push_to_talk`: turns mouse, space bar, hotkey and commands into one press and one release

Which key of a window is for the talk button is decided in `shell/key_routing.py`.

A key press arrives at a grabber, which emits the key's name; `Hotkeys` turns the name into `talk_pressed` or
`mute_pressed`; `controllers/talk_keys.py` holds the talk button or toggles mute.
"""
