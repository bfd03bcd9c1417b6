"""The tools available to a model, and the MCP servers that provide them.

- `tools_box.py`: selects which tools are enabled
- `servers_dialog.py`: manages the servers
"""
