"""The demo for a trade-fair booth: a cascade and the tandem side by side, full screen, legible from three metres.

- `controller`: opens the demo and resumes the user's conversation afterwards
- `course`: steps through the demo, once per visitor; `visitor`: a visitor's own question
- `screen`: the window, with its keys and three pages, of which the first is shown until a visitor starts the demo
- `stage_page`: shows both sides in action; `figures_page`: shows the response times
- `side_view`: one side, with lights, stopwatch, waveform and thoughts
- `fitted_text`: text that fills the available space, and the colours of the two sides
"""
