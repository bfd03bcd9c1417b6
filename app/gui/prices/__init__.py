"""Model prices: `price_table.py` has the table, `prices_dialog.py` its dialog."""
