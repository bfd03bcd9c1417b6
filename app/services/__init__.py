"""Services used by the window and the command line, for keys, back-ends, models, sound tests and the hardware check.

- `api_keys`: API keys in the keyring, memory or environment; `provider_keys`: API keys by provider,
  with user-facing messages
- `backends`: factories for back-ends, tools and prices based on the user's choices
- `backend_service`: providers and their models, and tests of back-ends
- `price_service`, `tool_server_service`: the user's prices and MCP servers
- `model_service`: lists, downloads, checks and removes the models of the catalogue
- `sound_service`: tests of microphones and loudspeakers; `microphone_check`: rates a microphone from a recording
- `asking_service`: synthesizes questions in a voice other than the assistant's
- `machine_service`: probes the hardware and determines which models it can run
- `graphics_service`: installs the packages required to use a graphics card
- `doctor`: the report of the `doctor` command; `model_speed`, `card_bench`, `card_page`: benchmarks
- `documents`: reads text and PDF files added to a conversation; PDFs are parsed in a child process
- `updates`: checks for a newer version, if the user has enabled that
- `bill_of_materials`: the components of this build, with their licences

The composition root `app.main` creates the services. The window awaits their coroutines, or calls blocking methods on a
worker thread, and displays the records they return. Problems that the user can fix are raised as UserError with a
user-facing message. Adapters and heavy packages are imported only when used.
"""
