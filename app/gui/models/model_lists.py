"""The models offered by each provider: built-in suggestions until a list has been fetched in the background."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.choice import MODELLED
from app.gui.widgets.translation import said
from app.services.backend_service import BackendService, ProviderView
from app.session.control import BackendChoice

_Place = tuple[str, str]


class ModelLists(QObject):
    """Fetches and caches model lists, keyed by provider and URL.

    Emits `changed` with the provider and URL when a fetch succeeds or fails.
    """

    changed = Signal(str, str)

    def __init__(
        self,
        views: Sequence[ProviderView],
        service: BackendService | None,
        background: BackgroundTasks,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.views = {view.key: replace(view, label=said(view.label)) for view in views}
        self.awake = False
        """Whether the event loop is running. Until then, `ask` is a no-op."""
        self._service = service
        self._background = background
        self._found: dict[_Place, tuple[str, ...]] = {}
        self._trouble: dict[_Place, str] = {}

    def label(self, provider: str) -> str:
        """Returns a provider's display name."""
        view = self.views.get(provider)
        return view.label if view is not None else provider

    def offered(self, choice: BackendChoice) -> tuple[str, ...]:
        """Returns the models in the fetched list or, until it has been fetched, the provider's suggestions."""
        view = self.views.get(choice.provider)
        return self._found.get(choice.place, view.suggestions if view is not None else ())

    def trouble(self, choice: BackendChoice) -> str:
        """Returns the error message of the last fetch, or an empty string if it didn't fail."""
        return self._trouble.get(choice.place, "")

    def can_ask(self, choice: BackendChoice) -> bool:
        """Returns whether a choice's server can be queried for its models."""
        view = self.views.get(choice.provider)
        if self._service is None or view is None or choice.provider not in MODELLED:
            return False
        return bool(choice.base_url) or view.url != ""

    def busy(self, choice: BackendChoice) -> bool:
        """Returns whether a choice's list is being fetched."""
        return self._background.busy(_task(choice))

    def ask(self, choice: BackendChoice, *, fresh: bool = False) -> None:
        """Fetches a choice's list in the background if possible. `fresh`: whether to bypass the cache."""
        service, place = self._service, choice.place
        if service is None or not self.awake or not self.can_ask(choice) or self.busy(choice):
            return
        if place in self._found and not fresh:
            return

        def found(models: tuple[str, ...]) -> None:
            self._trouble.pop(place, None)
            self._found[place] = tuple(models)
            self.changed.emit(*place)

        def failed(sentence: str) -> None:
            self._trouble[place] = sentence
            self.changed.emit(*place)

        self._background.run(self, _task(choice), lambda: service.models(choice, fresh=fresh), found, failed)


def _task(choice: BackendChoice) -> str:
    return f"list models of {choice.provider} {choice.base_url}".strip()
