"""What models cost: the table of prices and its dialog, and a field for US dollars.

- `price_table.py`, `price_view.py`, `prices_dialog.py`: the rows, the table, the dialog
- `dollar_box.py`: the field
"""
