"""Global hotkeys, which work even while another program has focus, and the talk button's logic.

- `hotkey`: parses key combinations from Qt's portable text and rejects unsuitable ones; the grabber interface
- `x11`, `windows`, `portal`: grabbers for X11, Windows, and Wayland through the desktop portal
- `manager`: picks the grabber for the current desktop and manages the keys for talking and muting
- `push_to_talk`: merges mouse, space bar, hotkey and commands into one sequence of presses and releases

`shell/key_routing.py` decides which of a window's key events go to the talk button.

On a key press, the grabber emits the key's name, and `Hotkeys` emits `talk_pressed` or `mute_pressed` accordingly.
`controllers/talk_keys.py` then holds the talk button or toggles mute.
"""
