"""The welcome's cards at the first start: the microphone, and the model that answers.

- `welcome_cards.py`: both cards, with the one for the microphone
- `model_card.py`: the card for the model, with the offer of a better one

Their *Details* lead to the dialogs “Sound” and “Models and servers”. `app.gui.window.first_start` shows the cards, and
hides them once the user has said something.
"""
