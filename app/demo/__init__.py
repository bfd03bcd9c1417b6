"""The booth demo: asks a cascade and the tandem the same question and shows their response times side by side.

- `base`: the two sides, the questions, the figures and the results
- `side`: the state of one side, derived from its session's events
- `record`: records a side's answer in a silent session, and replays two recordings in sync
- `shipped`: the questions, and the recorded run that comes with the app
- `service`: the back-ends and front-end available on this machine, and the demo's sessions and sound

Only one session runs at a time, since two would slow each other down on a small machine. Each question is therefore
recorded in advance, first with one side and then with the other, and the two recordings are replayed in sync. Until
there are some, a recorded run that comes with the app is shown. The tandem answers a visitor's own question live; the
cascade then gets a recording of that question. All times are session times, taken from events.
"""
