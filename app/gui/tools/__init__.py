"""Selects the tools available to a model, and manages the MCP servers that provide additional ones.

- `tools_box.py`: switches tools on and off
- `servers_dialog.py`: the dialog for managing MCP servers
"""
