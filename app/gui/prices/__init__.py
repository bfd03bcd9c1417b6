"""What models cost: the table of prices and its dialog, and a field for US dollars.

- `price_table.py`, `prices_dialog.py`: the table, the dialog
- `dollar_box.py`: the field
"""
