"""The command `serve`: holds conversations with clients of Moshi's protocol, such as this app on another machine."""

from __future__ import annotations

import argparse
import asyncio
import ipaddress
import os
import secrets
import signal
import ssl
from pathlib import Path
from typing import Any

from app.cli.arguments import whole_number
from app.cli.backend_options import add_backend, choice_of
from app.cli.output import Terminal
from app.frontend.remote.protocol import PATH, PORT
from app.models.fit import PRECISIONS
from app.session.control import ModelChoice, SessionChoice, SpeechChoice, Style
from app.session.errors import UserError

COMMANDS = ("serve",)
KEY_VARIABLE = "KAME_SERVER_KEY"


def add_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Adds `COMMANDS` to the subparsers `commands`; `common` holds the options that every command has."""
    serve = commands.add_parser(
        "serve", parents=[common], help="hear and speak for other machines, and for clients of Moshi"
    )
    serve.add_argument("--host", default="127.0.0.1", help="the address to listen at (default: this machine alone)")
    serve.add_argument("--port", type=whole_number, default=PORT, help=f"default: {PORT}")
    serve.add_argument(
        "--key-file",
        type=Path,
        default=None,
        metavar="FILE",
        help=f"holds the key that clients must give (default: {KEY_VARIABLE}; beyond this machine one is made)",
    )
    serve.add_argument("--certificate", type=Path, default=None, metavar="FILE", help="for wss: a chain in PEM")
    serve.add_argument("--certificate-key", type=Path, default=None, metavar="FILE", help="its private key")
    serve.add_argument("--at-once", type=whole_number, default=1, metavar="N", help="conversations at a time")
    serve.add_argument("--frontend", default="cascade", choices=("cascade", "kame", "moshi", "nano"))
    serve.add_argument("--weights", default="", metavar="FOLDER", help="the weights of kame or moshi")
    serve.add_argument("--precision", choices=("auto", *PRECISIONS), default="auto", help="how they are kept")
    serve.add_argument("--device", choices=("auto", "cuda", "cpu"), default="auto", help="where they run")
    serve.add_argument("--answer-mode", choices=("after", "thinking"), default="thinking")
    serve.add_argument("--no-openings", action="store_true", help="keep silent until the answer is there")
    serve.add_argument("--persona", default="", metavar="TEXT", help="who answers")
    serve.add_argument("--language", default="en", metavar="XX", help="what clients speak")
    serve.add_argument("--voice", default="", metavar="VOICE", help="a voice of “models list”")
    add_backend(serve)


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Serves until Ctrl-C; returns the exit code. Raises UserError."""
    return asyncio.run(_serve(args, terminal))


async def _serve(args: argparse.Namespace, terminal: Terminal) -> int:
    from app import main as compose
    from app.audio.io.pushed import PushedSource, SendingSink
    from app.models.pool import MODELS
    from app.server.server import VoiceServer
    from app.session.session import Session

    key, made = server_key(args.host, args.key_file)
    choice = SessionChoice(
        frontend=args.frontend,
        backend=choice_of(args),
        model=ModelChoice(args.weights, args.precision, args.device),
        speech=SpeechChoice(args.language, voice=args.voice),
        style=Style(args.persona),
        answer_mode=args.answer_mode,
        openings=not args.no_openings,
        duplex=True,
    )

    def make(source: PushedSource, sink: SendingSink) -> Session:
        return compose.session(choice, source, sink)

    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    before = {name: signal.signal(name, lambda *_: loop.call_soon_threadsafe(stopped.set)) for name in _SIGNALS}
    try:
        with MODELS.keeping():
            terminal.progress("Loading the models …")
            await _load_once(make)
            server = VoiceServer(
                make,
                host=args.host,
                port=args.port,
                key=key,
                at_once=max(1, args.at_once),
                tls=_tls(args.certificate, args.certificate_key),
                tell=terminal.say,
                errors=compose.USER_ERRORS,
            )
            async with server:
                scheme = "wss" if args.certificate is not None else "ws"
                host = f"[{args.host}]" if ":" in args.host else args.host
                terminal.say(f"Serving at {scheme}://{host}:{server.port}{PATH}. Ctrl-C ends it.")
                if made:
                    terminal.say(f"Clients need this key: {key}")
                await stopped.wait()
    except compose.USER_ERRORS as error:
        raise UserError(str(error)) from error
    except OSError as error:
        raise UserError(
            f"Nothing can listen at {args.host}, port {args.port} ({error.strerror or error}). Choose another --port, "
            "or end the program that uses it."
        ) from error
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)
    terminal.document({"ok": True})
    return 0


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


async def _load_once(make: Any) -> None:
    """Opens a session and ends it, so that the first client does not wait for the models. Raises what opening does."""
    from app.audio.io.pushed import PushedSource, SendingSink

    source = PushedSource("nobody")
    source.close()
    async with make(source, SendingSink("nobody", lambda samples: None)) as talk:
        await talk.stop()


def server_key(host: str, file: Path | None) -> tuple[str, bool]:
    """The key that clients must give, empty for none, and whether it was made just now. Raises UserError."""
    from app.services.api_keys import KeyRefused, clean_key

    text = os.environ.get(KEY_VARIABLE, "")
    try:
        if file is not None:
            text = file.read_text("utf-8")
        if text.strip():
            return clean_key(text), False
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"The key in {file} can't be read ({error}). Give a file that holds the key alone.") from None
    except KeyRefused as error:
        raise UserError(str(error)) from None
    return ("", False) if _is_loopback(host) else (secrets.token_urlsafe(24), True)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _tls(certificate: Path | None, key: Path | None) -> ssl.SSLContext | None:
    if certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        raise UserError(
            f"The certificate {certificate} can't be used ({error}). Give a chain in PEM, and its private key with "
            "--certificate-key."
        ) from error
    return context
