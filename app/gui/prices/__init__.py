"""Model prices: the price table and its dialog, and an input field for US dollars.

- `price_table.py`, `prices_dialog.py`: the table and its dialog
- `dollar_box.py`: the input field
"""
