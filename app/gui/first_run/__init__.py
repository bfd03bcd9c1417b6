"""The first run: cards in the welcome for microphone and model, and a wizard for all that can be set up.

The wizard checks the machine, and lets the user choose voice, model and devices, and test them.

Read in this order:

- `services.py`: what the wizard needs of the rest of the app
- `page.py`, `signs.py`: a page and its scroll area; the row of steps and the marks
- `cards/`: boxes, choices and downloads on the pages
- `machine_page.py`: what the machine has
- `voice_page.py`: the front-end; `frontend_request.py` uses it once its weights are there
- `model_page.py`: the text model, with `model_offer.py`
- `sound_page.py`, `talk_page.py`: microphone and loudspeaker; a summary
- `welcome_cards.py`: the welcome's `microphone_card.py` and `model_card.py`, which lead to the wizard's pages
- `wizard.py`: the dialog that leads from page to page

The machine's view goes from the first page to the others, which choose what fits best unless the user has chosen. What
the user goes on from leaves the wizard as a signal; the window applies it and writes it into the settings.
"""
