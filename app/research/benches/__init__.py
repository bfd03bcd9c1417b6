"""Benches: each measures one property of the app and returns a result with `table()` and `document()` (for JSON).

`README.md` lists the benches with their commands and latest figures. Modules shared by several benches:

- `app/diagnostics/tables.py`: percentiles, Markdown tables, the description of the machine, progress bars
- `app/research/results.py`: formatting of figures, grouping, reports, and errors for unreadable files
- `recordings.py`: audio files, the benches' spoken questions, loudness, transcription, and asking questions in sessions
- `timed_parts.py`: the real models in simulated time, over a single recording or in whole sessions
- `pauses.py`: test cases with pauses within and after utterances, from synthetic speech and real speakers
- `room.py`: a simulated room between loudspeaker and microphone

`comparison.py` compares the results of two runs. Each of the other modules and packages contains one or two benches.
The commands in `app.research.commands` call a bench's `run_...` function, which plays recordings through the app's own
components, collects measurements, and returns the result that the command prints.
"""
