"""Translates the window into the user's language if a translation exists; the source language is English.

The language is the system's, or that of the setting `window_language`. Qt looks up the texts: the app's in
`resources/translations`, and its own in its own files.
"""

from __future__ import annotations

import logging
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from app.platform.installation import resource
from app.settings.setting import tr

SOURCE_LANGUAGE = "en"

LABELS = (
    tr("Built-in"),
    tr("Another server"),
    tr("Router: by kind of question"),
    tr("Built-in voice (CPU)"),
    tr("KAME (GPU): speaks while it thinks"),
    tr("Moshi (GPU): by itself, without a language model"),
    tr("Voice server (another machine)"),
)
"""Names of back-ends and front-ends that are declared outside of the GUI, listed here for the translation tool."""

_log = logging.getLogger(__name__)


def said(text: str) -> str:
    """Translates a text declared outside of the GUI: a setting's text or one of `LABELS`."""
    return QCoreApplication.translate("", text) if text else ""


def window_language() -> str:
    """Returns the two-letter code of the window's language."""
    app = QCoreApplication.instance()
    found = [words.language() for words in app.findChildren(QTranslator)] if app is not None else []
    return next((language[:2] for language in found if language), SOURCE_LANGUAGE)


def use_language(app: QCoreApplication, language: str) -> str:
    """Installs the translation for `language`, a value of the setting `window_language`; returns the language in use.

    If that isn't the system's language, dates and numbers follow it too. Call this before creating any widget.
    """
    if language == "system":
        return install_translations(app)
    chosen = QLocale(language)
    if chosen.language() != QLocale.system().language():
        QLocale.setDefault(chosen)
    return install_translations(app, chosen)


def install_translations(app: QCoreApplication, locale: QLocale | None = None, folder: Path | None = None) -> str:
    """Installs the translation for the first of the user's languages that has one, and returns its name.

    `locale` supplies the languages (None: the system's); `folder` contains the files `kame_<language>.qm` (None: the
    app's own). Call this before creating any widget, since texts already shown don't change. Never raises; falls back
    to English. A second call replaces the translations installed by the first.
    """
    for before in app.findChildren(QTranslator):
        app.removeTranslator(before)
        before.deleteLater()
    folder = folder or resource("translations")
    for language in (locale or QLocale.system()).uiLanguages():
        name = language.replace("-", "_")
        if name.split("_")[0] in (SOURCE_LANGUAGE, "C"):
            break  # the user prefers English to all remaining languages
        if not (folder / f"kame_{name}.qm").exists():
            continue
        words = QTranslator(app)
        if not words.load(str(folder / f"kame_{name}.qm")):
            _log.warning("the translation for %s could not be read", name)
            words.deleteLater()
            continue
        # Qt's own first: the translator installed last is consulted first.
        qts = QTranslator(app)
        if qts.load(QLocale(language), "qtbase", "_", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
            app.installTranslator(qts)
        app.installTranslator(words)
        return name
    return SOURCE_LANGUAGE
