"""Sound in the window: devices and their levels, the talk button, mute, and the dialog “Sound”.

- `talk_dock`: the controls below the conversation, with `talk_button` and `mute_button`
- `devices_popover`: microphone and loudspeaker with their levels
- `dialog`: the dialog “Sound”, with the sound's processing and the sections that follow
- `tests`: levels and trials of the microphone and the loudspeaker; `test_result`: what a trial found, in words
- `talk_button_box`: how the talk button works, the hotkeys, and measurements of the sound in words

A choice made in a widget is emitted by the dialog; `controllers/sound_controller.py` stores it in the settings and
passes it to the session manager. Levels and measurements come from the session's events to the controller, which shows
them.
"""
