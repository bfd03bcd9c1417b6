"""Puts the window into the user's language, as far as there are translations; else it speaks English.

The language is the system's, or the one of the setting `window_language`. Qt looks the words up: the app's in
`resources/translations`, and its own in its own files.
"""

from __future__ import annotations

import logging
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from app.platform.resources import resource
from app.settings.setting import tr

SOURCE_LANGUAGE = "en"

LABELS = (
    tr("Embedded (this machine)"),
    tr("Another server"),
    tr("Router: by kind of question"),
    tr("Embedded voice (CPU)"),
    tr("KAME (GPU): speaks while it thinks"),
    tr("Moshi (GPU): by itself, without a brain"),
)
"""What brains and front-ends call themselves, who know nothing of a window: here for the translators to find."""

_log = logging.getLogger(__name__)


def said(text: str) -> str:
    """A text in the user's language that is declared outside of the window: a setting's words, one of `LABELS`."""
    return QCoreApplication.translate("", text) if text else ""


def use_language(app: QCoreApplication, language: str) -> str:
    """Puts the window into `language`, as the setting `window_language` names it, and returns what became of it.

    Dates and numbers follow a language that isn't the system's own. To be called before anything is built.
    """
    if language == "system":
        return install_translations(app)
    chosen = QLocale(language)
    if chosen.language() != QLocale.system().language():
        QLocale.setDefault(chosen)
    return install_translations(app, chosen)


def install_translations(app: QCoreApplication, locale: QLocale | None = None, folder: Path | None = None) -> str:
    """Loads the translations for the first of the user's languages that there are any for, and returns its name.

    `locale`: whose languages count (None: the system's); `folder`: where `kame_<language>.qm` are (None: the app's
    own). To be called before anything is built, since words that are shown already stay as they are. Never raises:
    English it is where nothing fits. Called again, it takes the place of what was loaded before.
    """
    for before in app.findChildren(QTranslator):
        app.removeTranslator(before)
        before.deleteLater()
    folder = folder or resource("translations")
    for language in (locale or QLocale.system()).uiLanguages():
        name = language.replace("-", "_")
        if name.split("_")[0] in (SOURCE_LANGUAGE, "C"):
            break  # those after it the user likes less than the language that the words are written in
        if not (folder / f"kame_{name}.qm").exists():
            continue
        words = QTranslator(app)
        if not words.load(str(folder / f"kame_{name}.qm")):
            _log.warning("the translation for %s could not be read", name)
            words.deleteLater()
            continue
        # Qt's first: of several, the one that was installed last is asked first.
        qts = QTranslator(app)
        if qts.load(QLocale(language), "qtbase", "_", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
            app.installTranslator(qts)
        app.installTranslator(words)
        return name
    return SOURCE_LANGUAGE
