"""One conversation with the user.

- Start with `control` (what a session should be, and the state that it publishes), `parts` (what it consists of) and
  `session` (how it runs).
- A frame passes through `clock` (the source's audio becomes numbered frames), `frame_thread` (when they are stepped),
  `frame_loop` (one step, with the messages of `mailbox`), `playback` (what is played, and what interrupts it),
  `overload` and `overload_reports` (whether the machine is too slow, and why) and `recorder` (handlers and listeners,
  the recording, the audio in memory).
- A question passes through `backend_controller` (which back-ends answer), `oracle_runner` (when they are asked, and
  which revision wins) and `oracle_stream` (one revision). `backend_pool` has the open back-ends, tools, spending and
  prompts.
- `speech_controller` exchanges recognisers and voices; `frontend_controller` replaces a front-end that fails, and
  brings it back;
  `early_sound` keeps what is said while they are loading.

What is said of the revisions, and when, is decided in `app.conversation.speaking.what_to_say`.
"""
