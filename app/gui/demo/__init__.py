"""The demo for a trade-fair booth: a cascade and the tandem side by side, full screen, readable from three metres.

- `controller`: opens the demo and restores the user's conversation afterwards
- `course`: runs the demo's steps, visitor after visitor; `visitor` and `live`: a visitor's own question
- `screen`: the window, with its keys and three pages
- `start_page`: waits for a visitor; `stage_page`: both sides at work; `figures_page`: the response times
- `side_view`: one side, with lights, stopwatch, waveform and thoughts
- `fitted_text`: text that fills the available space, and the colours of the two sides
"""
