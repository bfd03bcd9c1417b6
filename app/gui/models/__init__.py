"""Choosing, connecting and downloading the models of a conversation.

Read in this order:

- `downloads.py`: downloads on a thread, with their progress as signals
- `model_lists.py`: which models each provider offers, fetched in the background
- `favourites.py`: the user's favourites and their keys
- `model_list.py`, `model_search.py`: the list of models, with a field to search it; `model_pill.py`: the button for it
- `backend_fields.py`: the fields that name a back-end
- `local_models.py`, `server_form.py`, `machine_page.py`: the pages of `models_dialog.py`, “Models and servers”
- `model_question.py`: the comparison model, a duplicate's model, and the router's table
- `frontend_bar.py`: precision, delays, memory and weights of the front-end in use
- `style_dialog.py`: persona, voice, length, tools and spending limit of a conversation

A `BackendChoice` leaves a dialog as a signal; `app.gui.controllers.backend_controller` gives it to the session, and
writes what the session has accepted into the settings and back into the popover.
"""
