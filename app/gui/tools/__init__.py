"""The tools that a model may use, and the MCP servers that offer them.

- `tools_box.py`: which tools are on
- `server_form.py`, `servers_dialog.py`: the servers
"""
