"""Logs, redaction of secrets, probes of the machine, and the diagnostics report.

- `redaction`: removes keys, and words of the conversation, from text
- `logs`: the newest log lines in memory and in a file, and the thread that formats, redacts and writes them
- `tables`: percentiles and Markdown tables of measurements
- `machine`: probes of the system, graphics card, disk, sound devices, Ollama and API keys
- `report`: the diagnostics report

A log record goes from any thread through `RecordQueue` into a queue; `Writer` redacts it and hands it to `Log` and the
file.
`Diagnostics` notes the session's events, and writes them together with the probes, the settings and the log.
"""
