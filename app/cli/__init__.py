"""The command line: reads arguments, runs a command, prints lines or one JSON document.

- `parser`: all commands, and the exit codes
- `output`: prints progress, results and documents, with terminal control sequences removed
- `fault_log`: turns errors that a user can fix into messages, and logs all others
- `arguments`: parses and validates option values, and declares the options that select a back-end
- `talk_command`, `demo_command`, `ptt_command`: conversations, the side-by-side demo, push-to-talk from a desktop
  shortcut; `talk_report` prints a conversation and its summary
- `serve_command`: the voice server
- `ask_command`, `keys_command`: a question to a back-end, API keys
- `model_commands`: the models of the app and of back-ends
- `doctor_command`, `devices_command`: this machine, and its sound devices
- `bench_command`: benchmarks, most of which are defined in `app.research.commands`

Each command module defines `COMMANDS` (their names), `add_commands` (declares the arguments) and `run`. `run` receives
the parsed arguments and a `Terminal`, imports its dependencies lazily, and returns the exit code or raises UserError,
whose message `parser.main` prints.
"""
