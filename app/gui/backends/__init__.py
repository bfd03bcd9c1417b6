"""Choosing language models: pickers, keys, prices, routes, tools."""
