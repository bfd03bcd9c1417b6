"""The mini window: a small one in front of all others, to talk while another program is in use.

- `window.py`: the window, which is dragged by the mouse and driven by keys.
- `words.py`: the words that were said last, by either side.
- `lines.py`: paints the end of a text, as many lines as fit.
- `model_name.py`: the model's name with its colour.
"""
