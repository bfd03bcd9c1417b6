"""Steps of `bench card` that go wrong in all ways: run as the steps' module, without torch."""

import json
import os
import signal
import sys
import time


def main(name: str, request: str) -> None:
    asked = json.loads(request)
    if name == "card":
        say(name="Test card", torch="1.2.3", asked=asked)
    elif name == "checks":
        say(checks=[], first=1)
        sys.stdout.flush()
        if sys.platform == "win32":
            os.abort()
        os.kill(os.getpid(), signal.SIGKILL)
    elif name == "waits":
        say(started=True)
        time.sleep(40)
    elif name == "attention":
        print("Segmentation rubbish\n[1, 2]\n{", flush=True)
        return
    elif name == "session-int8":
        folder = os.path.join(os.path.expanduser("~"), "models", "kame.safetensors")
        print(f"Traceback: {folder}", file=sys.stderr)
        say(outcome="failed", sentence=f"No such file: {folder} or /srv/data/weights/x.bin | at 3 GB/s.", where=folder)
        return
    elif name == "full-bf16":
        times = {"p50": 30.0, "p95": 31.5, "p99": 33.25, "worst": 40.0}
        say(**{"in a row, full cache": times}, made_s=2.0, peak_bytes=18e9, precision="bf16")
    say(outcome="passed", sentence="")


def say(**facts: object) -> None:
    print(json.dumps(facts), flush=True)


main(*sys.argv[1:])
