"""One conversation with the user: the fast and the slow clock, and what runs on them.

Start with `control` (what a session should be, and the state that a running one publishes), `parts` (what it is made
of) and `session` (how it runs). Along the way of a frame: `clock` (the timeline), `frame_thread`, `mailbox`,
`frame_loop` (one step), `playback` (what is played, and what interrupts it). Along the way of a word:
`backend_controller` (which back-ends answer), `backend_pool` (back-ends, tools, prompts and spending), `oracle_runner`
(when to ask, and which revision wins), `oracle_stream` (one revision). Around them: `speech_controller` and
`swappable_transcriber` (voices and recognisers that are exchanged) and `recorder` (listeners, recordings, and sound to
play again).
"""
