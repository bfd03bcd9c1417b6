"""The command-line interface: parses the arguments, runs a command, and prints lines of text or one JSON document.

- `parser`: all commands, and the exit codes
- `output`: prints progress, results and documents, with terminal control sequences removed
- `fault_log`: logs unexpected errors and warnings
- `arguments`: parses and validates option values, and declares the options that select a back-end
- `talk_command`: conversations in the terminal; `talk_report` prints them and their summaries
- `demo_command`, `ptt_command`: the side-by-side demo, and push-to-talk from a desktop keyboard shortcut
- `serve_command`: the voice server; `interrupts`: ends it or a conversation cleanly on Ctrl-C
- `ask_command`, `keys_command`: text questions to back-ends, and their API keys
- `model_commands`: the models of the app and of back-ends
- `doctor_command`, `devices_command`: a report on this machine, and its sound devices
- `bench_command`: benchmarks, most of which are defined in `app.research.commands`

Each command module defines `COMMANDS` (their names), `add_commands` (declares the arguments) and `run`. `run` receives
the parsed arguments and a `Terminal`, imports its dependencies lazily, and returns the exit code. If it raises
UserError or one of `app.main.USER_ERRORS`, `parser.main` prints the message.
"""
