"""Lists the models that back-ends offer, and pulls models with Ollama, for the command `models`."""

from __future__ import annotations

import argparse
import asyncio
from typing import TYPE_CHECKING, Any

from app.backend.address import without_secrets
from app.cli.output import Terminal
from app.platform.installation import completing_command
from app.session.control import ROUTER, BackendChoice
from app.session.errors import UserError

if TYPE_CHECKING:
    from app.services.backend_service import BackendService

LOCAL_SECONDS = 2.5
CLOUD_SECONDS = 10.0
"""How long to wait for a list of models when all providers are asked."""


def list_models(args: argparse.Namespace, terminal: Terminal) -> int:
    """Lists the models that the back-end `args.provider` offers, or all of them; the exit code. Raises UserError."""
    from app.services.backend_service import BackendService

    return asyncio.run(_list(args, terminal, BackendService()))


def pull_model(args: argparse.Namespace, terminal: Terminal) -> int:
    """Pulls the model `args.name` with Ollama; the exit code. Raises UserError."""
    from app.services.backend_service import BackendService

    choice = BackendChoice(args.provider or "ollama", args.name, args.base_url)
    try:
        asyncio.run(BackendService().pull(choice, lambda words, share: terminal.progress(f"{share:4.0%}  {words}")))
    except KeyboardInterrupt:
        raise UserError(
            "The download was stopped. What has been downloaded is kept; the same command continues from there."
        ) from None
    terminal.say(f"{args.name} is here.")
    terminal.document({"ok": True, "model": args.name})
    return 0


async def _list(args: argparse.Namespace, terminal: Terminal, service: BackendService) -> int:
    if args.provider != "all":
        choices = [BackendChoice(args.provider or "compatible", "", args.base_url)]
    else:
        choices = [BackendChoice(view.key) for view in service.providers if view.key != ROUTER]
    terminal.progress("Asking …")
    rows = await asyncio.gather(*(_row(choice, service, len(choices) == 1) for choice in choices))
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


async def _row(choice: BackendChoice, service: BackendService, alone: bool) -> dict[str, Any]:
    """A provider's models, and what is wrong with it. `asked`: the server itself listed them."""
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
            row["problem"] = f"These are suggestions; without a key (`keys set {choice.provider}`) it can't be asked."
        elif not offer.asked:
            row["problem"] = "These are suggestions; the server itself gives no list."
    except UserError as error:
        row["problem"] = str(error)
    return row
