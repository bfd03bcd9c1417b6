"""Models on this machine: downloading them, the dialog that lists them, and the bar of front-ends with weights.

Read in this order:

- `fetch_controller.py`: downloads one thing at a time on a thread, and reports progress as signals
- `weights_controller.py`, `models_controller.py`, `graphics_controller.py`: a front-end's weights, other models, and
  what a graphics card needs
- `model_table.py`, `models_panel.py`: the dialog “Models”
- `frontend_bar.py`, `frontend_controller.py`: precision, delays, memory and weights of the front-end in use

A download is started from a dialog or the bar and belongs to the window, so it goes on when they close; what shows it
follows the controller's signals.
"""
