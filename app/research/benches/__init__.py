"""Benches: each measures one property of the app and returns a result with `table()` and `document()` (for JSON).

`README.md` lists the benches with their commands and latest figures. Shared by several of them:

- `app/diagnostics/tables.py`: percentiles, Markdown tables, the machine, progress
- `recordings.py`: sound files, the benches' spoken questions, loudness; `reader.py`: what a voice's speech says
- `listening.py`: the real recogniser and turn tracker over a recording, with delays in the sound's own time
- `pauses.py`: pauses inside and behind utterances, of made speech and of people
- `busy.py`: how busy the machine is beside a bench, and refusing to measure on a busy one
- `simulated_parts.py`: whole sessions in simulated time; `room.py`: a room between loudspeaker and microphone

Benches with a package of their own: `first_word`, `mtbench`, `duplex`, `rivals`. `comparison.py` compares the results
of two runs; `voicebench.py` lets benches from outside ask this app. One module per other bench is named after it. A
command of `app.research.commands` calls the bench's `run_...` function, which plays recordings through the app's own
parts, collects what each one did, and returns the result that the command prints.
"""
