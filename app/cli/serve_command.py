"""The command `serve`: holds conversations with clients that use Moshi's protocol, such as this app on another machine.

Loads the client key and the TLS certificate, and shuts down cleanly on Ctrl-C or SIGTERM.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ipaddress
import os
import secrets
import ssl
from pathlib import Path
from typing import Any

from app.cli.arguments import add_backend, add_engine, choice_of, dollars, port_number, whole_number
from app.cli.interrupts import unless, until_interrupted
from app.cli.output import OutputLost, Terminal
from app.diagnostics.redaction import redact
from app.frontend import PROVIDERS as FRONT_ENDS
from app.frontend.remote.protocol import PATH, PORT
from app.session.control import ModelChoice, SessionChoice, SpeechChoice, Style, UserError
from app.untrusted.files import read_text
from app.untrusted.limits import VOICE_KEY
from app.untrusted.text import one_line

KEY_VARIABLE = "KAME_SERVER_KEY"
SHORTEST_KEY = 16
"""Of a key that keeps out other machines, in characters."""


def server_key(host: str, file: Path | None) -> tuple[str, bool]:
    """Returns the key that clients must send (empty: none), and whether it was newly generated. Raises UserError.

    The key is redacted from the log from then on.
    """
    key = _given_key(file)
    if key and len(key) < SHORTEST_KEY and not _is_loopback(host):
        raise UserError(
            f"This key is too short to keep others out beyond this machine: it has {len(key)} letters. Give one of at "
            f"least {SHORTEST_KEY}, or leave it out, and one is made."
        )
    made = not key and not _is_loopback(host)
    if made:
        key = secrets.token_urlsafe(24)
    if key:
        redact(key)
    return key, made


def _given_key(file: Path | None) -> str:
    from app.services.api_keys import KeyRefused, clean_key

    text = os.environ.get(KEY_VARIABLE, "")
    try:
        if file is not None:
            text = read_text(file, VOICE_KEY)
            if not text.strip().strip("\ufeff"):
                raise UserError(
                    f"There is no key in {_shown(file)}, so anybody could come in. Write the key into it, or leave "
                    "out --key-file."
                )
        return clean_key(text) if text.strip() else ""
    except (OSError, ValueError) as error:
        if isinstance(error, KeyRefused):
            raise UserError(str(error)) from None
        reason = (error.strerror or "it can't be read") if isinstance(error, OSError) else error
        raise UserError(
            f"The key in {_shown(file)} can't be read ({reason}). Give a file that holds the key alone."
        ) from None


def _shown(file: Path | None) -> str:
    return one_line(str(file), 300)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def server_tls(certificate: Path | None, key: Path | None) -> ssl.SSLContext | None:
    """Returns the TLS context for wss, or None without a certificate. Raises UserError."""
    if certificate is None:
        if key is not None:
            raise UserError(
                "A private key alone encrypts nothing, so nothing is served. Give its certificate with --certificate "
                "too, or leave out --certificate-key."
            )
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        raise UserError(
            f"The certificate {_shown(certificate)} can't be used ({error}). Give a chain in PEM, and its private "
            "key with --certificate-key."
        ) from error
    return context


COMMANDS = ("serve",)


def add_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Adds `COMMANDS` to the subparsers `commands`; `common` holds the options shared by all commands."""
    serve = commands.add_parser(
        "serve", parents=[common], help="hear and speak for other machines, and for clients of Moshi"
    )
    serve.add_argument("--host", default="127.0.0.1", help="the address to listen at (default: this machine alone)")
    serve.add_argument("--port", type=port_number, default=PORT, help=f"default: {PORT}")
    serve.add_argument(
        "--key-file",
        type=Path,
        default=None,
        metavar="FILE",
        help=f"holds the key that clients must give (default: {KEY_VARIABLE}; beyond this machine one is made)",
    )
    serve.add_argument("--certificate", type=Path, default=None, metavar="FILE", help="for wss: a chain in PEM")
    serve.add_argument("--certificate-key", type=Path, default=None, metavar="FILE", help="its private key")
    serve.add_argument(
        "--cap", type=dollars, default=0.0, metavar="DOLLARS", help="what all conversations of this run may cost"
    )
    serve.add_argument(
        "--client-cap", type=dollars, default=0.0, metavar="DOLLARS", help="what those with one address may cost"
    )
    serve.add_argument("--at-once", type=whole_number, default=1, metavar="N", help="conversations at a time")
    serve.add_argument(
        "--frontend", default="cascade", choices=tuple(key for key, spec in FRONT_ENDS.items() if not spec.elsewhere)
    )
    add_engine(serve)
    add_backend(serve)


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Serves until Ctrl-C; returns the exit code. Raises UserError.

    The JSON document is printed when the server is ready, or when the command is interrupted before that. It contains
    the address, and the key if one was generated.
    """
    return asyncio.run(_serve(args, terminal))


async def _serve(args: argparse.Namespace, terminal: Terminal) -> int:
    from app import main as compose
    from app.models.pool import MODELS
    from app.server.admission import Purse
    from app.server.server import VoiceServer

    key, made = server_key(args.host, args.key_file)
    make = _maker(args)
    lost: list[OutputLost] = []
    with until_interrupted() as stopped:

        def tell(line: str) -> None:
            try:
                terminal.say(line)
            except OutputLost as error:
                lost.append(error)
                stopped.set()

        server = VoiceServer(
            make,
            host=args.host,
            port=args.port,
            key=key,
            at_once=max(1, args.at_once),
            purse=Purse(args.cap, args.client_cap),
            tls=server_tls(args.certificate, args.certificate_key),
            tell=tell,
            errors=compose.USER_ERRORS,
        )
        with MODELS.keeping():
            async with contextlib.AsyncExitStack() as stack:
                await _take_port(server, stack)  # before the models are loaded
                terminal.progress("Loading the models …")
                if not await unless(stopped, _load_once(make)):
                    terminal.document({"ok": True})
                    return 0
                await server.start()
                _announce(terminal, f"{_address(args, server.port)}{PATH}", key if made else "")
                if args.certificate is None and not _is_loopback(args.host):
                    terminal.note(
                        "Speech and the key cross the network unencrypted, so others in it can listen. Give a "
                        "--certificate, unless you trust all who are in it."
                    )
                await stopped.wait()
    if lost:
        raise lost[0]
    return 0


async def _take_port(server: Any, stack: contextlib.AsyncExitStack) -> None:
    """Enters the context of a `VoiceServer`, which binds its port. Raises UserError."""
    try:
        await stack.enter_async_context(server)
    except (OSError, UnicodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else "") or error
        raise UserError(
            f"Nothing can listen at {server.host}, port {server.port} ({reason}). Choose another --port, or end the "
            "program that uses it."
        ) from error


def _maker(args: argparse.Namespace) -> Any:
    """Returns the factory that creates a session for each client (a `MakeTalk`)."""
    from app import main as compose
    from app.audio.io.pushed import PushedSource, SendingSink
    from app.services.backends import backend_off_loop
    from app.session.session import Session

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

    async def make(source: PushedSource, sink: SendingSink) -> Session:
        # On a worker thread, so that conversations of other clients aren't held up by the GPU or the keyring.
        voice = await asyncio.to_thread(compose.frontend, choice)
        backend = await backend_off_loop(choice.backend, choice.speech.language)
        return compose.session(choice, source, sink, made_frontend=voice, backend=backend)

    return make


def _address(args: argparse.Namespace, port: int) -> str:
    host = f"[{args.host}]" if ":" in args.host else args.host
    return f"{'wss' if args.certificate is not None else 'ws'}://{host}:{port}"


def _announce(terminal: Terminal, address: str, key: str) -> None:
    """Prints the address that clients must connect to, and `key` if one was newly generated."""
    terminal.say(f"Serving at {address}. Ctrl-C ends it.")
    if key:
        terminal.say(f"Clients need this key: {key}")
    terminal.document({"ok": True, "address": address, **({"key": key} if key else {})})


async def _load_once(make: Any) -> None:
    """Opens and ends a session to load the models before the first client connects. Propagates its exceptions."""
    from app.audio.io.pushed import PushedSource, SendingSink

    source = PushedSource("nobody")
    source.close()
    async with await make(source, SendingSink("nobody", lambda samples: None)) as talk:
        await talk.stop()
