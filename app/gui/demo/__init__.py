"""The demo for a booth: a cascade and the tandem side by side, full screen, to be read from three metres.

- `controller`: opens the demo, and gives the user's conversation back afterwards
- `course`: goes through its steps, from one visitor to the next; `live`: a visitor's own question
- `screen`: the window, with its keys and one of three pages
- `start_page`: waits for a visitor; `stage_page`: both sides at work; `figures_page`: how long they took
- `side_view`: one side, with lights, stopwatch, waveform and thoughts
- `fitted_text`: text as large as there is room, and the sides' colours
"""
