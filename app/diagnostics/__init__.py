"""Logs, redaction of secrets, probes of the machine, and the diagnostics report.

- `redaction`: removes secrets and conversation text from strings
- `logs`: the newest log lines in memory and in a file, and the thread that formats, redacts and writes them
- `tables`: percentiles and Markdown tables for benchmarks
- `machine`: probes of the system, graphics card, disk, sound devices, Ollama and API keys
- `report`: the diagnostics report

`RecordQueue` queues log records from any thread; `Writer` redacts them and passes them to `Log` and the log file.
`Diagnostics` collects the session's events and combines them with the probes, the settings and the log in a report.
"""
