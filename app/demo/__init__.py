"""The demo for a booth: the same question to a cascade and to the tandem, whose stopwatches stand side by side.

- `base`: the two sides, the questions, and what a demo brings
- `side`: what one side hears, thinks and says, followed through a session's events
- `record`: puts a question to a side, in a session that nobody hears, and shows two recorded sides in step
- `steps`: in which order the demo goes on, and when it does so by itself
- `service`: what this machine offers to the demo, and its sessions
- `sound`: plays a replay's sound
- `report`: the figures as text

One session at a time: two at once would slow each other down on a small machine. So each question is put to one side
after the other, before anybody watches, and both recordings are shown in step. A visitor's own question is answered
live by the tandem; the cascade then gets its recording. Times are the sessions' own, which come with their events.
"""
