"""Audio in the GUI: devices and levels, the talk button, mute, and the Sound dialog.

- `talk_dock`: the controls below the conversation, with `talk_button` and `mute_button`
- `devices_popover`: microphone and loudspeaker with their levels
- `dialog`: the Sound dialog, which combines the audio processing options with the sections below
- `tests`: level meters and tests for microphone and loudspeaker; `test_result`: describes the result of a test
- `talk_button_box`: the talk button's mode, the hotkeys, and a description of the audio measurements

The dialog emits a choice made in one of its widgets; `controllers/sound_controller.py` stores it in the settings and
passes it to the session manager. In the other direction, the controller takes levels and measurements from the
session's events and shows them.
"""
