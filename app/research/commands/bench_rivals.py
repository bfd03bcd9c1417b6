"""The `bench` measurement `rivals`: this app beside other open voice assistants."""

from __future__ import annotations

import argparse
import asyncio
import threading
from pathlib import Path
from typing import Any

from app.cli.arguments import whole_number
from app.cli.bench import Bench, Progress, add_folder
from app.session.errors import UserError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `bench rivals`."""
    parser.add_argument("--assistants", default="", metavar="LIST", help="with commas between (default: all)")
    parser.add_argument("--questions", type=whole_number, default=10, metavar="N", help="of the bench's ten")
    add_folder(parser, "--people", "also real speakers: manifest.jsonl and the recordings that it names")
    parser.add_argument("--utterances", type=whole_number, default=10, metavar="N", help="how many of theirs")
    parser.add_argument("--model", default="", help="the embedded model that all ask (default: the smallest)")
    parser.add_argument("--base-url", default="", metavar="URL", help="another server of OpenAI's protocol instead")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="results and the assistants' logs")


def run(args: argparse.Namespace, progress: Progress) -> Any:
    """Runs the measurement. Raises UserError."""
    return asyncio.run(_run(args, progress))


async def _run(args: argparse.Namespace, progress: Progress) -> Any:
    import importlib.util

    if importlib.util.find_spec("psutil") is None:
        raise UserError("This bench needs the package psutil. Run it in a checkout that was set up for tests.")
    from app.backend.embedded import EmbeddedBackend
    from app.research.benches.rivals.catalogue import chosen
    from app.research.benches.rivals.run import load_items, run_rivals

    assistants = chosen([name.strip() for name in args.assistants.split(",") if name.strip()])
    items = await asyncio.to_thread(load_items, args.questions, args.people, args.utterances)
    if args.base_url:
        server = {"url": args.base_url, "key": "", "model": args.model or "default"}
        return await asyncio.to_thread(run_rivals, assistants, items, server, 0, args.out, progress)
    backend = EmbeddedBackend(args.model)
    await backend.open()
    stopped = threading.Event()

    def goes_on(text: str) -> None:
        """Tells the progress; ends the measuring thread once the command is being stopped."""
        if stopped.is_set():
            raise InterruptedError
        progress(text)

    try:
        served = backend.served
        server = {"url": f"{served.url}/v1", "key": served.key, "model": backend.model}
        return await asyncio.to_thread(run_rivals, assistants, items, server, served.pid, args.out, goes_on)
    finally:
        stopped.set()
        await backend.close()


BENCHES = (Bench("rivals", "this app beside Pipecat, LiveKit and RealtimeSTT/TTS", add_arguments, run),)
