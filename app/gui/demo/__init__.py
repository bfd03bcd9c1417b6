"""The demo for a trade-fair booth: a cascade and the tandem side by side, full screen, legible from three metres.

- `controller`: opens the demo and resumes the user's conversation afterwards
- `course`: steps through the demo, once per visitor; `visitor`: a visitor's own questions
- `screen`: the window, with its texts, buttons and keys
- `side_view`: one side, with lights, stopwatch, waveform and thoughts
- `painting`: text that fills the available space, and the colours of the two sides
"""
