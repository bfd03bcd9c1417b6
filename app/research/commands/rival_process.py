"""The process of this app in `bench rivals`: `tandem` or `cascade`, over pipes."""

from __future__ import annotations

import os
import sys

from app.session.control import BackendChoice, SessionChoice


def main(argv: list[str]) -> int:
    """Holds one session; `argv[0]` names how it answers. Raises what opening a session raises."""
    from app import main as compose
    from app.backend.openai_compatible import OpenAICompatibleBackend
    from app.research.benches.rivals.ours import run

    url, key, model = (os.environ.get(f"KAME_RIVAL_{name}", "") for name in ("URL", "KEY", "MODEL"))
    choice = SessionChoice(
        backend=BackendChoice("compatible", model, url),
        answer_mode="after" if argv[0] == "cascade" else "thinking",
        openings=False,
        duplex=True,
    )
    return run(
        lambda source, sink: compose.session(
            choice, source, sink, backend=OpenAICompatibleBackend(base_url=url, model=model, api_key=key)
        )
    )


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
