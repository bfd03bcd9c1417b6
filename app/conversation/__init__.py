"""The core of a conversation as pure logic and plain data: no Qt, torch, asyncio, clock, thread or disk.

Read in this order:

- `frame.py`: 80 ms of sound, the unit of time
- `events.py`, `event_json.py`: all that happens in a session, and its form as JSON
- `words.py`, `languages/`: comparing words, each language's phrases and lists
- `turns/`: who has the floor. `voice.py` decides when somebody speaks, `endpointing.py` and `completeness.py` when a
  turn ends, and `tracker.py` combines them; `floor.py` has its commands to the front-end
- `speaking/`: what is said now. `what_to_say.py` decides it; `revisions.py` has the
  answers and the gate that they must pass; `clauses.py` cuts an answer into clauses in their spoken
  form, `correction.py` joins a newer answer to what was said
- `oracle.py`, `prompt.py`: when a back-end is asked, and the messages that it gets
- `record/`: what happened. `transcript.py` and `heard_part.py` fold events into turns, `revisions.py` into revisions
  and what they used, `latency.py` into figures
- `markdown.py`: code, tables and markers in an answer

A frame's voice windows go through the turn tracker, which emits turn events and commands to the front-end. The
recogniser's partials make the oracle request revisions; their words become clauses, which the front-end speaks.
"""
