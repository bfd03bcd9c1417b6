"""The tandem timeline: what both sides, the back-ends and the front-end did, second by second.

- `pane.py`: the pane: heading, legend, buttons, and the plot.
- `view.py`: the plot with its mouse, keyboard and readout.
- `plot.py`: the plot without them: follows the conversation on a timer, and paints.
- `view_range.py`: which seconds are in view.
- `find.py`: the thing under the mouse or the cursor.
- `export.py`: writes an image.

The pane passes events to `TimelineLog` (`app.gui.timeline_data`). On each tick of its timer, or after a batch of
events, the view moves its range to the live edge and repaints; the picture (`app.gui.timeline_drawing`) drops the tiles
that have changed and paints them again from the log.
"""
