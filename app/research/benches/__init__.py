"""Benches: each measures one property of the app and returns a result with `table()` and `document()` (for JSON).

`README.md` lists the benches with their commands and latest figures. Shared by several of them:

- `app/diagnostics/tables.py`: percentiles, Markdown tables, the machine, progress; `word_errors.py`: comparing words
- `recordings.py`, `questions.py`: sound files and the bench's spoken questions
- `speech_models.py`, `timed_transcriber.py`, `listening.py`: the real recogniser and turn tracker over a recording,
  with delays in the sound's own time; `simulated_parts.py`: whole sessions in simulated time
- `echo_path.py`, `room.py`: a simulated room between loudspeaker and microphone
- `reader.py`, `loudness.py`: reading a voice's speech back, and its loudness
- `busy.py`: how busy the machine is beside a bench, and refusing to measure on a busy one

Benches with a package of their own: `first_word`, `mtbench`, `reasoning`, `duplex`, `rivals`; `comparison.py` compares
results (`directions.py`: whether less or more is better; `paired_scores.py`: whether scores differ by more than
chance), and `voicebench.py` lets benches from outside ask this app.

One module per other bench, named after it, makes the measurements; where that is long its figures and table are in
`..._result.py`. A command of `app.research.commands` calls the bench's `run_...` function, which plays recordings
through the app's own parts, collects what each one did, and returns the result that the command prints.
"""
