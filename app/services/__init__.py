"""Services for the window and the command line: keys, back-ends, models, sound tests, the machine.

- `api_keys`, `provider_keys`: API keys in the keyring, memory or environment; the same by provider, with messages
- `backends`: builds back-ends, tools and prices from the user's choices; the router's table
- `backend_service`: providers, their models, tests of a back-end
- `price_service`, `tool_server_service`: the user's prices and MCP servers
- `model_service`: the models of the catalogue
- `sound_service`, `microphone_check`: tests of microphones and loudspeakers; how a microphone is rated
- `asking_service`: speaks questions in a different voice from the assistant's
- `machine_service`: the machine's hardware, and which models fit it
- `graphics_service`: installs the packages that a graphics card needs
- `doctor`: the report of the `doctor` command; `model_speed`, `frame_bench`: benchmarks
- `documents`: reads a text or PDF file added to a conversation; PDFs in a child process
- `updates`: checks for a newer version, if the user has enabled that
- `bill_of_materials`: the components of this build, with their licences

The composition root `app.main` creates the services. The window awaits their coroutines, or calls blocking methods on a
thread, and displays the records they return. Problems that the user can fix are raised as UserError with a user-facing
message. Adapters and heavy packages are imported only when used.
"""
