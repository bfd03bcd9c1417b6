"""Global hotkeys, which work while another window has focus, and the talk button's logic.

- `hotkey`: a key combination, parsed from Qt's portable text; the rules for rejecting one; the grabber interface
- `x11`, `windows`, `portal`: grabbers for X11, Windows and Wayland's desktop portal
- `manager`: picks the grabber for the current desktop and manages the keys for talking and muting
- `push_to_talk`: combines mouse, space bar, hotkey and commands into one sequence of presses and releases

`shell/key_routing.py` decides which of a window's key events go to the talk button.

A key press arrives at a grabber, which emits the key's name; `Hotkeys` maps the name to `talk_pressed` or
`mute_pressed`; `controllers/talk_keys.py` then holds the talk button or toggles mute.
"""
