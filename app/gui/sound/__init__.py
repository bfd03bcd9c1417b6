"""Sound in the window: devices and their levels, the talk button, mute, and the dialog “Sound”.

- `talk_dock`: the controls below the conversation, with `talk_button` and `mute_button`
- `devices_popover`: microphone and loudspeaker with their levels
- `device_picker`: a list of microphones or loudspeakers that follows what is plugged in
- `dialog`: the dialog “Sound”, made of the four sections that follow
- `tests`: levels and trials of the microphone and the loudspeaker; `test_result`: what a trial found, in words
- `processing_box`: echo cancellation, noise suppression, automatic gain
- `measurements`: echo, clock drift and lost sound, in words
- `talk_button_box`: how the talk button works, and the hotkeys

A choice made in a widget is emitted by the dialog; `controllers/sound_controller.py` stores it in the settings and
passes it to the session manager. Levels and measurements come from the session's events to the controller, which shows
them.
"""
