"""Installs the translation into the user's language, if there is one. The source language is English.

The setting `window_language` determines the language, by default that of the system. The app's translations are in
`resources/translations`; those of Qt's own text come with Qt.
"""

from __future__ import annotations

import logging
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from app.gui.design.sentences import use_sentences
from app.gui.widgets.formats import use_decimal_sign
from app.platform.installation import resource
from app.settings.setting import tr

SOURCE_LANGUAGE = "en"

LABELS = (
    tr("Built-in"),
    tr("Another server"),
    tr("Built-in voice (CPU)"),
    tr("KAME (GPU): speaks while it thinks"),
    tr("Moshi (GPU): by itself, without a language model"),
    tr("Voice server (another machine)"),
    tr("tiny, for trying out"),
)
"""Names of back-ends and front-ends, and a note on a model: declared outside the GUI, and listed here so that the
translation tool extracts them.
"""

_log = logging.getLogger(__name__)


def said(text: str) -> str:
    """Translates text that is declared outside the GUI, such as a setting's label or one of `LABELS`."""
    return QCoreApplication.translate("", text) if text else ""


def window_language() -> str:
    """Returns the two-letter code of the window's language."""
    app = QCoreApplication.instance()
    found = [words.language() for words in app.findChildren(QTranslator)] if app is not None else []
    return next((language[:2] for language in found if language), SOURCE_LANGUAGE)


def use_language(app: QCoreApplication, language: str) -> str:
    """Installs the translation for `language`, a value of the setting `window_language`, and returns its name.

    If this isn't the system's language, it also determines the format of dates and numbers. Must be called before
    creating any widget.
    """
    if language == "system":
        return install_translations(app)
    chosen = QLocale(language)
    if chosen.language() != QLocale.system().language():
        QLocale.setDefault(chosen)
    return install_translations(app, chosen)


def install_translations(app: QCoreApplication, locale: QLocale | None = None, folder: Path | None = None) -> str:
    """Installs the translation for the first of the user's languages that has one, and returns its name.

    - `locale`: supplies the languages in order of preference; None for the system's locale
    - `folder`: contains the files `kame_<language>.qm` and `core_<language>.json`; None for the app's own folder

    Must be called before creating any widget, since existing text isn't updated. Never raises; falls back to English.
    Replaces translations installed by earlier calls.
    """
    for before in app.findChildren(QTranslator):
        app.removeTranslator(before)
        before.deleteLater()
    use_sentences(None)
    use_decimal_sign(QLocale().decimalPoint())
    folder = folder or resource("translations")
    for language in (locale or QLocale.system()).uiLanguages():
        name = language.replace("-", "_")
        if name.split("_")[0] in (SOURCE_LANGUAGE, "C"):
            break  # the user prefers English to the remaining languages
        if not (folder / f"kame_{name}.qm").exists():
            continue
        words = QTranslator(app)
        if not words.load(str(folder / f"kame_{name}.qm")):
            _log.warning("the translation for %s could not be read", name)
            words.deleteLater()
            continue
        # Qt's own translations first, because the translator installed last takes precedence.
        qts = QTranslator(app)
        if qts.load(QLocale(language), "qtbase", "_", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
            app.installTranslator(qts)
        app.installTranslator(words)
        use_sentences(folder / f"core_{name}.json")
        return name
    return SOURCE_LANGUAGE
