"""Benches: each measures one property of the app and returns a result with `table()` and `document()` (for JSON).

`README.md` lists the benches with their commands and latest figures. Shared by several of them:

- `app/diagnostics/tables.py`: percentiles, Markdown tables, the machine, progress
- `app/research/results.py`: figures, groups, reports, and errors of unreadable files
- `recordings.py`: sound files, the benches' spoken questions, loudness, what is said in a recording, asking it in a
  session
- `timed_parts.py`: the real models in simulated time, over a recording or in whole sessions
- `pauses.py`: pauses inside and behind utterances, of made speech and of people
- `room.py`: a room between loudspeaker and microphone

`comparison.py` compares the results of two runs. The other modules and packages are a bench or two each. A command of
`app.research.commands` calls the bench's `run_...` function, which plays recordings through the app's own parts,
collects what each one did, and returns the result that the command prints.
"""
