"""Widgets for choosing, connecting to and downloading a conversation's models.

Suggested reading order:

- `downloads.py`: downloads in a background thread, with progress signals
- `servers.py`: the user's own servers; `model_lists.py`: all places that offer models, their state and their models
- `favourites.py`: the user's favourite back-ends and their shortcuts
- `current_model.py`: who answers and who is coming; `model_pill.py`: the button that shows it
- `model_list.py`, `model_items.py`, `model_search.py`: the searchable model list
- `place_panel.py`: connects to a place in it
- `backend_fields.py`: input fields for a back-end's model and server; `key_box.py`: its API key
- `local_card.py`: the card of a model that runs on this machine
- `local_models.py`, `server_form.py`, `machine_page.py`: the pages of the "Models and servers" dialog
  (`models_dialog.py`)
- `model_question.py`: the dialog for picking a model
- `frontend_bar.py`: the state of the front-end's weights and context
- `style_dialog.py`: a conversation's persona, voice, length, tools and spending limit

Dialogs emit a `BackendChoice`. `app.gui.controllers.backend_controller` passes it to the session, then updates the
settings and the popover with the choice that the session accepted.
"""
