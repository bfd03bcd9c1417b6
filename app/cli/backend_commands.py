"""The commands about brains: `ask` and `keys`, and the models that back-ends offer. Text alone; no session, no sound.

A key comes from the terminal, unseen, or from standard input, and never from an argument: those are in lists of
processes and in histories of shells.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import errno
import os
import sys
import time
from typing import TYPE_CHECKING, Any

from app.backend.address import without_secrets
from app.cli.output import Terminal
from app.platform.installation import completing_command
from app.session.control import ROUTER, BackendChoice
from app.session.errors import UserError

if TYPE_CHECKING:
    from app.services.backend_service import ProviderDirectory

LOCAL_SECONDS = 2.5
CLOUD_SECONDS = 10.0
"""How long a list of models is waited for when all providers are asked."""

COMMANDS = ("ask", "keys")


def choice_of(args: argparse.Namespace) -> BackendChoice:
    """The brain that `--backend`, `--model` and `--base-url` name: a server's address alone will do."""
    return BackendChoice(args.backend or ("compatible" if args.base_url else "embedded"), args.model, args.base_url)


def add_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Adds `COMMANDS` to the subparsers `commands`; `common` holds the options that every command has."""
    ask = commands.add_parser("ask", parents=[common], help="ask a brain: text in, text out")
    ask.add_argument(
        "--backend", default="", metavar="NAME", help="the brain (default: embedded; with --base-url: compatible)"
    )
    ask.add_argument("--model", default="", help="the brain's model (default: the brain's own choice)")
    ask.add_argument("--base-url", default="", metavar="URL", help="where the brain's server is")
    ask.add_argument("--persona", default="", metavar="TEXT", help="who answers; how to speak is told besides")
    ask.add_argument("--temperature", type=_temperature, default=None, metavar="T", help="0 to 2")
    ask.add_argument("--max-tokens", type=_tokens, default=0, metavar="N", help="how long the answer may become")
    ask.add_argument("text", metavar="TEXT", help="the question; “-” reads it from standard input")

    keys = commands.add_parser("keys", parents=[common], help="API keys of brains").add_subparsers(
        dest="keys", metavar="WHAT", required=True
    )
    for name, words in (
        ("set", "keep a key in the system's keyring; it is asked for, or read from standard input"),
        ("test", "ask the brain for a word with its key"),
        ("forget", "take a key out of the keyring"),
        ("list", "where the key of each brain is; never the key itself"),
    ):
        one = keys.add_parser(name, parents=[common], help=words)
        one.add_argument(
            "provider",
            metavar="PROVIDER",
            nargs="?" if name == "list" else None,
            default="",
            help="openai, anthropic, google, or compatible with --base-url",
        )
        one.add_argument("--base-url", default="", metavar="URL", help="the server that the key is for")


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Runs one of `COMMANDS`; the exit code. Raises UserError."""
    service = _service()
    if args.command == "ask":
        return _ask(args, terminal, service)
    work = {"set": _keys_set, "test": _keys_test, "forget": _keys_forget, "list": _keys_list}[args.keys]
    return work(args, terminal, service)


def _service() -> ProviderDirectory:
    from app.services.api_keys import key_store
    from app.services.backend_service import ProviderDirectory

    def router() -> Any:
        from app.services.backends import backend

        return backend(BackendChoice(ROUTER))

    return ProviderDirectory(key_store(), router=router)


def list_models(args: argparse.Namespace, terminal: Terminal) -> int:
    """Lists the models that the back-end `args.provider` offers, or all of them; the exit code. Raises UserError."""
    return asyncio.run(_models(args, terminal, _service()))


def pull_model(args: argparse.Namespace, terminal: Terminal) -> int:
    """Has Ollama fetch the model `args.name`; the exit code. Raises UserError."""
    choice = BackendChoice(args.provider or "ollama", args.name, args.base_url)
    service = _service()
    try:
        asyncio.run(service.pull(choice, lambda words, share: terminal.progress(f"{share:4.0%}  {words}")))
    except KeyboardInterrupt:
        raise UserError("The download was stopped. What has come stays; the same command goes on from there.") from None
    terminal.say(f"{args.name} is here.")
    terminal.document({"ok": True, "model": args.name})
    return 0


async def _models(args: argparse.Namespace, terminal: Terminal, service: ProviderDirectory) -> int:
    if args.provider != "all":
        wanted = [BackendChoice(args.provider or "compatible", "", args.base_url)]
    else:
        wanted = [BackendChoice(view.key) for view in service.providers if view.key != ROUTER]
    terminal.progress("Asking …")
    rows = await asyncio.gather(*(_row(choice, service, len(wanted) == 1) for choice in wanted))
    labels = {view.key: view.label for view in service.providers}
    for row in rows:
        terminal.say(f"{labels.get(row['provider'], row['provider'])}" + (f" at {row['url']}" if row["url"] else ""))
        for model in row["models"]:
            terminal.say(f"  {model}")
        if row["problem"]:
            terminal.say(f"  {row['problem']}")
    failed = len(rows) == 1 and bool(rows[0]["problem"]) and not rows[0]["models"]
    terminal.document({"ok": not failed, "providers": rows})
    return 2 if failed else 0


async def _row(choice: BackendChoice, service: ProviderDirectory, alone: bool) -> dict[str, Any]:
    """A provider's models or what is wrong with it, for a list; `asked`: its server itself offers them."""
    row: dict[str, Any] = {
        "provider": choice.provider,
        "url": without_secrets(choice.base_url),
        "models": [],
        "asked": False,
        "problem": "",
    }
    if choice.provider == "embedded":
        from app.models.catalogue import models_of
        from app.models.locations import is_here

        row["models"] = [model.key for model in models_of("llm") if is_here(model.key)]
        if not row["models"]:
            row["problem"] = f"Its model is not installed. Run {completing_command()}."
        return row
    if choice.provider == "compatible" and not choice.base_url:
        row["problem"] = "Any server that speaks OpenAI's protocol: give its address with --base-url."
        return row
    try:
        seconds = 0.0 if alone else LOCAL_SECONDS if choice.provider == "ollama" else CLOUD_SECONDS
        offer = await service.offer(choice, seconds=seconds)
        row["models"], row["asked"] = list(offer.models), offer.asked
        if not offer.models:
            row["problem"] = "It answers, but has no model."
        elif not offer.asked and await service.key_place(choice) == "none":
            row["problem"] = f"These are well known; without a key (`keys set {choice.provider}`) it can't be asked."
        elif not offer.asked:
            row["problem"] = "These are well known; the server itself gives no list."
    except UserError as error:
        row["problem"] = str(error)
    return row


def _ask(args: argparse.Namespace, terminal: Terminal, service: ProviderDirectory) -> int:
    words = _standard_input() if args.text == "-" else args.text
    if not words.strip():
        raise UserError("There is no question. Write it behind the options, or give “-” and pipe it in.")
    try:
        return asyncio.run(_answer(args, words.strip(), terminal, service))
    except OSError as error:
        if not isinstance(error, BrokenPipeError) and (sys.platform != "win32" or error.errno != errno.EINVAL):
            raise
        # Whoever read has had enough.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  what is still in the buffer goes there at the end
        return 0


async def _answer(args: argparse.Namespace, words: str, terminal: Terminal, service: ProviderDirectory) -> int:
    from app.backend.base import BackendError, ChatRequest, Usage
    from app.conversation.prompt import ChatMessage, system_prompt

    choice = choice_of(args)
    terminal.progress("Asking …")
    backend = await service.make(choice)
    parts: list[str] = []
    usage: Usage | None = None
    first = 0.0
    failure = ""
    try:
        await backend.open()
        traits = backend.traits
        request = ChatRequest(
            (ChatMessage("system", system_prompt(traits.persona, args.persona)), ChatMessage("user", words)),
            max_tokens=args.max_tokens or traits.max_tokens,
            temperature=traits.temperature if args.temperature is None else args.temperature,
        )
        started = time.monotonic()
        async with backend.stream(request) as items:
            async for item in items:
                if isinstance(item, Usage):
                    usage = item
                if not isinstance(item, str) or not (item if parts else item.lstrip()):
                    continue
                if not parts:
                    item, first = item.lstrip(), time.monotonic() - started
                    terminal.progress("")
                parts.append(item)
                if not terminal.as_json:
                    print(item, end="", flush=True)
                if not args.max_tokens and traits.is_enough(item, len("".join(parts).split())):
                    break
        seconds = time.monotonic() - started
    except BackendError as error:
        failure = str(error)
    finally:
        if parts and not terminal.as_json:
            with contextlib.suppress(OSError):
                print(flush=True)
        await backend.close()
    answer = "".join(parts).rstrip()
    if not answer and not failure:
        failure = f"{backend.name} answered without a word. Ask in other words, or choose another brain."
    if failure:
        terminal.progress("")
        raise UserError(failure)
    count = len(answer.split())
    pace = count / (seconds - first) if count > 1 and seconds > first else None
    said = [f"first word after {first:.2f} s"]
    if usage is not None:
        about = "" if usage.counted else "about "
        said.append(f"{about}{usage.tokens_in} tokens in, {usage.tokens_out} out")
    if pace is not None:
        said.append(f"{pace:.1f} words/s")
    terminal.note(f"{backend.model} at {backend.name}: {'; '.join(said)}.")
    terminal.document(
        {
            "ok": True,
            "answer": answer,
            "provider": choice.provider,
            "model": backend.model,
            "first_seconds": round(first, 3),
            "seconds": round(seconds, 3),
            "words": count,
            "words_per_second": None if pace is None else round(pace, 1),
            "tokens_in": usage and usage.tokens_in,
            "tokens_out": usage and usage.tokens_out,
            "tokens_cached": usage and usage.tokens_cached,
            "tokens_counted": usage and usage.counted,
        }
    )
    return 0


def _keys_set(args: argparse.Namespace, terminal: Terminal, service: ProviderDirectory) -> int:
    choice = BackendChoice(args.provider, "", args.base_url)
    names = service.names_for_key(choice)
    key = _read_key(args.provider)
    kept = asyncio.run(service.keep(choice, key))
    if kept.place == "memory":
        raise UserError(
            f"{kept.trouble} So the key was not kept: it would be gone with this command. Set the environment variable "
            f"{names[0]} instead, or give the key in the window, for as long as it is open."
        )
    terminal.say(kept.sentence)
    terminal.document(
        {"ok": True, "provider": args.provider, "name": names[0], "place": kept.place, "words": kept.sentence}
    )
    return 0


def _keys_test(args: argparse.Namespace, terminal: Terminal, service: ProviderDirectory) -> int:
    choice = BackendChoice(args.provider, "", args.base_url)
    terminal.progress("Asking …")
    sentence = asyncio.run(service.test(choice))
    terminal.say(sentence)
    terminal.document({"ok": True, "provider": args.provider, "words": sentence})
    return 0


def _keys_forget(args: argparse.Namespace, terminal: Terminal, service: ProviderDirectory) -> int:
    choice = BackendChoice(args.provider, "", args.base_url)
    done = asyncio.run(service.forget(choice))
    if done.trouble:
        raise UserError(done.sentence)
    terminal.say(done.sentence)
    terminal.document({"ok": True, "provider": args.provider, "place": done.place, "words": done.sentence})
    return 0


def _keys_list(args: argparse.Namespace, terminal: Terminal, service: ProviderDirectory) -> int:
    if args.provider or args.base_url:
        choices = [BackendChoice(args.provider or "compatible", "", args.base_url)]
        service.names_for_key(choices[0])
    else:
        choices = [BackendChoice(view.key) for view in service.providers if view.key_name]
    rows = []
    for choice in choices:
        place, trouble = asyncio.run(service.look_for_key(choice))
        names = service.names_for_key(choice)
        rows.append({"provider": choice.provider, "names": list(names), "place": place, "problem": trouble})
        words = {
            "none": f"no key: `keys set {choice.provider}`, or {' or '.join(names)}",
            "environment": f"in the environment ({' or '.join(names)})",
            "keyring": "in the system's keyring",
            "memory": "in memory",
        }[place]
        terminal.say(f"{choice.provider:12} {words}")
        if trouble:
            terminal.say(f"{'':12} {trouble}")
    terminal.document({"ok": True, "keys": rows})
    return 0


def _read_key(provider: str) -> str:
    """A key from the terminal without showing it, or from standard input where that is no terminal."""
    if not sys.stdin.isatty():
        return _standard_input()
    import getpass
    import warnings

    hidden = True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", getpass.GetPassWarning)
            return getpass.getpass(f"Key for {provider} (it is not shown): ")
    except EOFError:
        pass
    except getpass.GetPassWarning:
        hidden = False
    if not hidden:
        raise UserError("This terminal can't hide what is typed. Pipe the key in: keys set PROVIDER < FILE.")
    raise UserError("No key was typed, so nothing has changed.")


def _standard_input() -> str:
    """All of standard input. UTF-8, whatever the console's code page is; else that code page."""
    data = sys.stdin.buffer.read()
    with contextlib.suppress(UnicodeDecodeError):
        return data.decode("utf-8-sig")
    import locale

    return data.decode(locale.getpreferredencoding(False), errors="replace")


def _temperature(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 2:
        raise argparse.ArgumentTypeError("must be between 0 and 2")
    return value


def _tokens(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value
