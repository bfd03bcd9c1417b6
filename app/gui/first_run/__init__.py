"""The cards for the microphone and the model, which the welcome page shows on the first start of the app.

- `welcome_cards.py`: the microphone card, and both cards side by side
- `model_card.py`: the model card, with the offer of a better model

The *Details* links open the dialogs "Sound" and "Models and servers". `app.gui.window.first_start` shows the cards and
hides them once the user has said something.
"""
