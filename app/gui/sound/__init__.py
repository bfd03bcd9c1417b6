"""Audio in the GUI: devices and levels, the talk button, mute, and the Sound dialog.

- `talk_dock`: the controls below the conversation, including `talk_button` and the mute button
- `devices_popover`: selects microphone and loudspeaker and shows their levels
- `dialog`: the Sound dialog, which combines the audio processing options, the talk button's mode, the hotkeys, and the
  section below
- `tests`: level meters, tests for microphone and loudspeaker, and what they found

The dialog emits the user's choices; `controllers/sound_controller.py` stores them in the settings and passes them to
the session manager. In the other direction, the controller extracts levels and measurements from the session's events
and passes them to the dialog.
"""
