"""One conversation with the user: the fast and the slow clock, and what runs on them.

Start with `control` (what a session should be, and what may be asked of a running one), `parts` (what it is made of)
and `session` (how it runs). Then, along the way of a frame: `frame_thread`, `mailbox`, `frame_stepper`,
`asked_sound`, `early_barge_in`, `turn_inputs`, `playback`, `edge_events`, `step_message`. Along the way of a word:
`backend_controller` (which back-ends answer), `prompts`, `spending`, `tool_access`, `backend_pool`, `oracle_runner`
(when to ask, and which revision wins), `oracle_stream` (one revision), `oracle_context`. What may change in a running
session: `speech_controller`, `transcriber_swap`. Around it: `loading`, `errors` (the ones that the user
can do something about), `clock`, `events_out`, `recorder`, `replay`, `sound_memory`, `overload`.
"""
