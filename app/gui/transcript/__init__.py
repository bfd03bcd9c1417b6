"""The transcript pane: both sides' turns, and the input field for typed messages.

- `pane.py`: the pane, with what can be done with a turn.
- `turn_cards.py`: keeps its cards in line with the conversation and the branch that is shown, and shows the thoughts
  behind an answer one after the other.
- `header.py`: the conversation's title and settings, shown in the top bar.
- `welcome.py`: the page shown while the conversation is empty.
- `entries.py`: creates the cards of turns, of notes about back-end changes, and of an answer before it is spoken.
- `composer.py`: the input field for typed messages; `document_chips.py`: the conversation's documents above it.
- `turn_actions.py`: the buttons for a turn.
- `consent_card.py`: asks the user to allow tool calls.

The cards follow `SessionModel`: they note which entries have changed, and `settle` updates them.
"""
