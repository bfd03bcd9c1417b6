"""The swap demo: a guided tour that compares models and changes the model in mid-answer.

- `base`: the records of a tour and of its result, and the stage that runs its sessions
- `plan`: which sessions a tour consists of, and how long it takes
- `question`: follows one question through a session's events
- `run`: runs the tour and collects its result
- `service`: what this machine offers to a tour, and its sessions
- `stage`: a stage without a window; the window's own is in `app.gui.demo`
- `report`: the result as text

`plan.stations` makes `DemoStop`s from the user's `DemoPlan`; `run.DemoRunner` starts a session for each on the stage,
puts the questions through its microphone, and turns what `QuestionTracker` has measured into `DemoAnswer`s and
`DemoSwap`s.
"""
