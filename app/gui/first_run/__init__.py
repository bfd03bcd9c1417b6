"""The cards on the welcome page at the first start: the microphone, and the model that answers.

- `welcome_cards.py`: both cards, including the microphone's
- `model_card.py`: the model's card, with the offer of a better model

Their *Details* links open the dialogs "Sound" and "Models and servers". `app.gui.window.first_start` shows the cards
and hides them once the user has said something.
"""
