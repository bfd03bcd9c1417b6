"""The command line: reads arguments, runs a command, prints lines or one JSON document.

- `parser`: all commands, and the exit codes
- `output`: prints progress, results and documents, without what could steer the terminal
- `fault_log`: errors of the user as sentences, and those of the app in the log
- `arguments`: values of options, with their limits, and the options that choose a back-end
- `talk_command`, `demo_command`, `ptt_command`: conversations, the swap demo, the talk button by a key of the
  desktop; `talk_report` prints a conversation and sums it up
- `ask_command`, `keys_command`: a question to a back-end, API keys
- `model_commands`: the app's models, and those of back-ends
- `doctor_command`, `devices_command`: the machine, and its sound devices
- `bench_command`: measurements; most come from `app.research.commands`

Each command's module has `COMMANDS` (their names), `add_commands` (declares the arguments) and `run`. `run` gets the
parsed arguments and a `Terminal`, imports what it needs, and returns the exit code or raises UserError, whose sentence
`parser.main` prints.
"""
