"""Shows the page of components: `python -m app.gui.gallery [--theme dark] [--accent blue] [--save FILE]`."""

from __future__ import annotations

import argparse
import sys

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.gui.design.theme import apply_theme
from app.gui.design.tokens import ACCENTS
from app.gui.gallery.page import Gallery

SIZE = 1000, 1900


def main(arguments: list[str]) -> int:
    """Shows the page, or with `--save` writes it into a picture."""
    parser = argparse.ArgumentParser(
        prog="python -m app.gui.gallery", description="Shows all components of the window."
    )
    parser.add_argument("--theme", choices=("light", "dark", "contrast"), default="light")
    parser.add_argument("--accent", choices=tuple(ACCENTS), default="teal")
    parser.add_argument("--percent", type=int, default=100, help="the size of text")
    parser.add_argument("--save", metavar="FILE", help="write a picture and show nothing")
    options = parser.parse_args(arguments)
    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    apply_theme(app, options.theme, options.percent, options.accent)
    gallery = Gallery()
    gallery.resize(*SIZE)
    if not options.save:
        gallery.show()
        return app.exec()
    gallery.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    gallery.show()
    app.processEvents()
    saved = gallery.grab().save(options.save)
    print(
        options.save if saved else f"The picture could not be written to {options.save}.",
        file=sys.stdout if saved else sys.stderr,
    )
    return 0 if saved else 2


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
