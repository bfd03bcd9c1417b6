"""The core of a conversation as pure logic and plain data: no Qt, torch, asyncio, clock, thread or disk.

Read in this order:

- `frame.py`: 80 ms of sound, the unit of time; `sound_processing.py`: settings and reports of the audio path
- `voice.py`: from the voice detector's windows to "somebody surely speaks"
- `turn.py` with `turn_settings.py`: onset, endpointing, barge-in and backchannels; `endpointing.py`: how long a pause
  ends a turn; `speech_level.py`, `own_words.py`: the user's loudness, the assistant's echo; `floor.py`: commands
- `words.py`, `completeness.py`, `languages/`: comparing words, complete questions, each language's phrases and lists
- `oracle.py`, `stability.py`: when a revision is requested, and when it is stable enough to be spoken
- `prompt.py`, `intended.py`: from the transcript and documents to the back-end's messages
- `blocks.py`, `aloud.py`: code and tables in an answer, and the sentence that a voice says in their place
- `backend_speed.py`, `usage.py`: how often to ask a back-end, and what that costs
- `clauses.py`, `spoken_form.py`, `correction.py`: from an answer's text to clauses, and from one revision to the next
- `events.py`, `event_json.py`, `transcript.py`: all that happens, as JSON, and the transcript that follows from it
- `revisions.py`: the events folded into oracle revisions, for panes, latency, usage and transcript
- `progress.py`, `heard_part.py`, `markdown.py`: what was heard of a revision, and how it was written
- `latency.py`, `frame_budget.py`: how long each stage of an answer took and why, and how late the frame loop was

A frame's voice windows go through the turn tracker, which emits turn events and commands to the front-end. The
recogniser's partials make the oracle request revisions; their words become clauses, which the front-end speaks.
"""
