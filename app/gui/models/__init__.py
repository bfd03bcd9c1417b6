"""Widgets for choosing, connecting and downloading a conversation's models.

Suggested reading order:

- `downloads.py`: downloads in a background thread, with progress signals
- `model_lists.py`: the models that each provider offers, fetched in the background
- `favourites.py`: the user's favourites and their shortcuts
- `model_list.py`, `model_search.py`: the searchable model list; `model_pill.py`: the button that opens it
- `backend_fields.py`: input fields for a back-end's model and server
- `local_models.py`, `server_form.py`, `machine_page.py`: the pages of the "Models and servers" dialog
  (`models_dialog.py`)
- `model_question.py`: the dialog that asks for a model, and the router's table
- `frontend_bar.py`: the weights and context use of the front-end
- `style_dialog.py`: a conversation's persona, voice, length, tools and spending limit

Dialogs emit a `BackendChoice`. `app.gui.controllers.backend_controller` passes it to the session, then updates the
settings and the popover with the choice that the session accepted.
"""
