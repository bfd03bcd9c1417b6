"""Services for the window and the command line: keys, back-ends, models, sound tests, the machine.

- `api_keys`, `provider_keys`: API keys, in the keyring or elsewhere; the keys by provider, in sentences
- `backends`: back-ends, tools and prices from what the user chose; the router's table
- `backend_service`: providers, their models, tests of a back-end
- `price_service`, `tool_server_service`: the user's prices and MCP servers
- `model_service`: the models of the catalogue
- `sound_service`, `microphone_check`: tests of microphones and loudspeakers; how a microphone is judged
- `asking_service`: questions spoken by another voice than the assistant's
- `machine_service`: what this machine has, and what fits it
- `graphics_service`: installs what a graphics card needs
- `doctor`: the same machine for the command `doctor`; `model_speed`, `frame_bench`: how fast it is
- `documents`: reads a text or PDF file that is added to a conversation, PDF in a child process
- `updates`: checks for a newer version, if that is switched on
- `bill_of_materials`: the parts of this build, with their licences

The composition root `app.main` makes the services; the window calls their coroutines, or their blocking methods on a
thread, and shows the records that they return. What a user can fix is raised as UserError with a sentence. Adapters
and heavy packages are imported only when they are used.
"""
