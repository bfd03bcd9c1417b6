"""Collects the sentences that the core shows to users, and checks their translations in `core_<language>.json`.

The core, which is everything in `app` outside `app/gui`, says everything in English. The window translates its
sentences by templates (see `app/gui/design/sentences.py`): the f-string `f"There is no model {name}."` has the template
“There is no model {1}.”. Each string of the core that reads like a sentence needs a translation. The files may also
contain its shorter strings, such as “microphone”, which are translated where they fill a placeholder, and templates
with a placeholder filled in, where these need other words.
"""

from __future__ import annotations

import ast
import itertools
import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from app.gui.design.sentences import PLACEHOLDER, letters_in, pattern_of  # noqa: E402

FOLDER = ROOT / "resources" / "translations"

ELSEWHERE = ("gui/", "cli/", "research/", "conversation/languages/")
"""Parts of `app` whose sentences Qt translates, or which the window never shows."""

SETUP = ("card", "card_commands", "environment", "problems", "provision")
"""Modules of `packaging/installation` that set up a graphics card, whose messages the window shows."""

OMITTED: dict[str, tuple[str, ...]] = {
    # Printed in a terminal only.
    "platform/display.py": (),
    "platform/single_instance.py": (),
    "services/doctor.py": (),
    "services/card_bench.py": (),
    "services/card_page.py": (),
    "frontend/kame/engine/card_steps/base.py": (),
    "frontend/kame/engine/card_steps/checkpoint.py": (),
    "frontend/kame/engine/card_steps/faults.py": (),
    "frontend/kame/engine/card_steps/small.py": (),
    "frontend/kame/engine/card_steps/whole.py": (),
    "installation/environment.py": ("No Python", "KAME Desktop needs", "{1}, then run"),
    "installation/card_commands.py": (
        "An {1}",
        "A {1}",
        "Nothing is installed",
        "What the graphics card needed",
        "What was",
    ),
    "server/server.py": ("A client", "A conversation", "It cost", "The conversation is over"),
    # Sent to programs on other machines.
    "server/admission.py": (),
    # Read by the language model.
    "backend/embedded_models.py": ("You answer",),
    "backend/tool_calls.py": (),
    "services/model_speed.py": ("It is a short", "Why ", "Which ", "How "),
    "stt/text_endpointing_worker.py": (),
    "tools/calculator.py": (),
    "tools/clock.py": (),
    "tools/files.py": (),
    "tools/mcp_connection.py": (
        "Done;",
        "“{1}” was refused",
        "“{1}” failed and",
        "{1} “{2}” may",
        "The MCP server “{1}” did",
    ),
    "tools/toolbox.py": (
        "The tool",
        "“{1}” ",
        "The arguments",
        "There is no tool “{1}”. There",
        "Works out",
        "Tells",
        "Lists,",
    ),
    # Spoken.
    "services/sound_service.py": ("This is how",),
    "tts/piper_worker.py": (),
    "tts/voices.py": ("Hello.", "Hallo.", "Hola.", "Bonjour.", "Ciao.", "Olá."),
    # Programming errors, and parts of messages to programmers.
    "backend/embedded.py": ("The embedded",),
    "backend/ollama.py": ("Ollama has not been",),
    "backend/openai_compatible.py": ("{1} has not been",),
    "frontend/kame/engine/engine.py": (),
    "frontend/kame/oracle_feed.py": (),
    "models/packages.py": ("The lock",),
    "stt/whisper_library.py": (),
    "untrusted/records.py": (),
}
"""Modules whose sentences need no translation, and how these begin; none given: all of them."""

FEW_LETTERS = 8
"""Templates with fewer letters match too much to tell whether another is one of them with a placeholder filled in."""
SENTENCE = re.compile(r"(?:[A-Z“]|\{\d+\}).*[.?!”](\s?\{\d+\})*", re.S)
SENTENCES = re.compile(r"[a-z}”)]{2}[.!?] [A-Z“{]")
"""Where a string consists of several sentences, even if the last one is not complete."""
SQL = re.compile(r"(SELECT|INSERT|UPDATE|DELETE|WHERE|AND) ")
FIELD = re.compile(r"\{(\w*)(?:![a-z])?(?::[^{}]*)?\}")
"""A placeholder of `str.format`."""
UNSEEN = re.compile(r"_?log\.\w+|tr|_tr")
"""Functions whose strings go to the log or to Qt's translations."""


def files() -> list[Path]:
    """Returns the translations of each language."""
    return sorted(FOLDER.glob("core_*.json"))


@cache
def collected() -> tuple[dict[str, str], frozenset[str]]:
    """Returns the templates that need a translation, each with its module, and all other templates of the core."""
    needed, others = dict[str, str](), set[str]()
    setup = ((ROOT / "packaging" / "installation" / f"{name}.py", f"installation/{name}.py") for name in SETUP)
    core = ((path, path.relative_to(ROOT / "app").as_posix()) for path in sorted((ROOT / "app").rglob("*.py")))
    for path, module in (*core, *setup):
        if module.startswith(ELSEWHERE):
            continue
        for template in templates_in(ast.parse(path.read_text("utf-8"))):
            if is_sentence(template) and not _omitted(module, template):
                needed.setdefault(template, module)
            else:
                others.add(template)
    return needed, frozenset(others)


def templates_in(tree: ast.Module) -> Iterator[str]:
    """Yields the template of each string in a module, without its docstrings, log messages and translated strings."""
    skipped = set[ast.AST]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(node.value)
        elif isinstance(node, ast.Call) and UNSEEN.fullmatch(ast.unparse(node.func)):
            skipped.update(ast.walk(node))
        elif isinstance(node, ast.JoinedStr):
            skipped.update(node.values)
    for node in ast.walk(tree):
        if node not in skipped:
            yield from filter(None, map(str.strip, templates_of(node)))


def templates_of(node: ast.AST) -> list[str]:
    """Returns the templates of a string or f-string, with numbered placeholders; none for anything else.

    Fields of the same name or expression have the same number. There are several templates if a field is a choice
    between strings, such as the ending of a plural.
    """
    fields = dict[str, int]()

    def placeholder(name: str) -> str:
        return f"{{{fields.setdefault(name, len(fields) + 1)}}}"

    def parts_of(part: ast.AST) -> list[str]:
        match part:
            case ast.Constant(value=str(text)):
                return [FIELD.sub(lambda found: placeholder(found[1] or str(found.start())), text)]
            case ast.FormattedValue(value=ast.IfExp(body=ast.Constant(str(one)), orelse=ast.Constant(str(other)))):
                return [one, other]
            case ast.FormattedValue(value=value):
                return [placeholder(ast.unparse(value))]
            case ast.JoinedStr(values=parts):
                return ["".join(chosen) for chosen in itertools.product(*map(parts_of, parts))]
        return []

    return parts_of(node)


def is_sentence(template: str) -> bool:
    """Returns whether a string reads like a sentence to the user, as opposed to a word, SQL, or a log message."""
    has_words = len(template.split()) >= 3 and len(re.findall(r"[a-z]{2,}", PLACEHOLDER.sub("", template))) >= 2
    is_text = SENTENCE.fullmatch(template) or SENTENCES.search(template)
    return bool(is_text) and has_words and not SQL.match(template) and "%s" not in template


def _omitted(module: str, template: str) -> bool:
    return module in OMITTED and (not OMITTED[module] or template.startswith(OMITTED[module]))


def load(path: Path) -> dict[str, str]:
    """Returns a language's translations, keyed by template."""
    table: dict[str, str] = json.loads(path.read_text("utf-8"))
    return table


def gone_from(table: dict[str, str]) -> list[str]:
    """Returns the templates of a table that are no longer in the source."""
    needed, others = collected()
    present = {template for template in table if template in needed or template in others}
    patterns = [pattern_of(one) for one in present if letters_in(one) >= FEW_LETTERS]
    return [one for one in table if one not in present and not any(pattern.fullmatch(one) for pattern in patterns)]


def check() -> list[str]:
    """Returns an error message for each missing translation, lost placeholder, and template that no longer exists."""
    wrong = []
    for path in files():
        table = load(path)
        wrong += [
            f"{path.name}: “{template}” ({module}) is not translated."
            for template, module in collected()[0].items()
            if not table.get(template)
        ]
        wrong += [
            f"{path.name}: “{text}” doesn't have the placeholders of “{template}”."
            for template, text in table.items()
            if text and set(PLACEHOLDER.findall(text)) != set(PLACEHOLDER.findall(template))
        ]
        wrong += [f"{path.name}: “{template}” is no longer in the source." for template in gone_from(table)]
    return wrong


def update(new: str = "") -> list[str]:
    """Adds the missing templates, untranslated, to each language and to the language `new`, if given; drops old ones.

    Returns a message for each missing, wrong or dropped translation.
    """
    if new and not (path := FOLDER / f"core_{new}.json").exists():
        path.write_text("{}", encoding="utf-8")
    report = check()
    for path in files():
        table = dict.fromkeys(collected()[0], "") | load(path)
        for template in gone_from(table):
            del table[template]
        text = json.dumps(dict(sorted(table.items())), ensure_ascii=False, indent=0)
        path.write_text(text + "\n", encoding="utf-8", newline="\n")
    return report
