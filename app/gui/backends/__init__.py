"""Widgets and dialogs for choosing and connecting the text models behind the voice.

Read in this order:

- `model_lists.py`: which models each provider offers, fetched in the background
- `model_field.py`, `picker.py`: the fields that name a back-end; `favourites.py`: the user's favourites and their keys
- `model_rows.py`, `model_list.py`, `model_pill.py`: what there is to choose, as a list, and the pill that opens it
- `key_box.py`, `pull_box.py`, `backend_dialog.py`: an API key, downloading a model, and the dialog “Connection”
- `secondary_dialog.py`, `routes_dialog.py`: the comparison model, and the router's table
- `style_dialog.py`: persona, voice, length, tools and cost cap of a conversation

A `BackendChoice` leaves a picker or dialog as a signal; `controllers/backend_controller.py` gives it to the
session, and writes what the session has accepted into the settings and back into the pickers.
"""
