"""Tools that a model may call: a calculator, a clock, permitted files, and Model Context Protocol (MCP) servers.

All tools are disabled until the user enables them by name. In reading order:

- `base`: the tool protocol, a tool's description for the model, and the result of a call
- `calculator`, `clock`: arithmetic, and the date and time
- `files`: the permitted folders, and the three tools that list, read and search them
- `mcp_tool`: an MCP server added by the user, and its tools as presented to the model
- `mcp_connection`: the connection to a server, with limits on message sizes and time
- `server_list`: the user's list of servers, and the file that stores it
- `toolbox`: all tools of a session

`toolbox.make_toolbox` creates a `Toolbox` from names. A back-end sends `Toolbox.specs` to its model. Each call by the
model consists of a name and JSON text; the toolbox validates it against the tool's schema, runs it with a timeout, and
returns a `ToolResult`.
"""
