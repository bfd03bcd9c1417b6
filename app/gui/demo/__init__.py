"""The swap demo in the window: it compares models and front-ends, and changes the model in mid-answer.

- `controller`: opens the panel, runs the demo, and restores the user's conversation afterwards
- `panel`: the demo's dialog, which shows one of three pages
- `start_page`: what will take part; `progress_page`: which question is asked now; `result_page`: chart and answers
- `descriptions`: everything that the demo says about plan, progress and result, as text
- `chart`: response times as bars
- `stage`: runs the demo's sessions in the window's own session manager
- `picture`: draws the result page as an image without a window

The user's choice leaves the start page as a `DemoPlan`; the controller runs it on the stage, shows each
`DemoProgress`, and at the end the `DemoResult`.
"""
