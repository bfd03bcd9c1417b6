"""The tools that a model may use, and the MCP servers that offer them.

- `tools_box.py`: which tools are on
- `servers_dialog.py`: the servers
"""
