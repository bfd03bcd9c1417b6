"""Shows a session's events in the window's panes, batch by batch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.conversation import events as e
from app.gui.state.talk_state import Phase
from app.gui.transcript.past_talk import PastTalk
from app.gui.window.event_pump import EventPump

if TYPE_CHECKING:
    from app.gui.window.main_window import MainWindow


class SessionView(QObject):
    """Passes each event to the panes that show it. `watch` gets every event of every session, at once."""

    def __init__(self, window: MainWindow, watch: Callable[[e.Event], None]) -> None:
        super().__init__(window)
        self._window = window
        self._watch = watch
        self.pump = EventPump(self._apply, self._flush, self._on_fault, self)

    def on_event(self, event: e.Event) -> None:
        """Take an event of a session: it is recorded at once and shown with the next batch."""
        self._watch(event)
        self._window.talks.heard(event)
        self.pump.put(event)

    def _apply(self, event: e.Event) -> None:
        """Show one event; called by the pump."""
        window = self._window
        past = window.talks.past  # the conversation that it belongs to is no longer shown
        match event:
            case e.LevelMeasured():
                # A frame may still arrive when the session is over.
                if window.state.manager.phase == "running":
                    window.sound.show_levels(event)
                    window.panels.show_levels(event)
                    window.inspector.apply(event, shown=not past)
                    window.mini_mode.apply(event)
                    window.state.apply(event)
                    if not past:
                        window.oracle.time.update(event.at)
                return
            case e.DeviceChanged() | e.SoundMeasured():
                window.sound.apply(event)
                window.state.apply(event)
                window.inspector.apply(event, shown=not past)
                return
            case e.Failure():
                self._show_failure(event)
            case e.Notice(sentence=sentence):
                window.messages.say(sentence, level="notice")
            case e.ConversationConfigured(given=given) if not past:
                window.transcript.documents.show_given(given)
            case e.ServerDescribed(sentence=sentence):
                window.messages.say(sentence, topic="server", level="notice")
            case e.BudgetChanged():
                window.messages.clear_topic("cap")
            case e.SecondaryChanged(backend=backend) if backend and not past:
                window.panes.oracle_action.setChecked(True)
                window.panes.widen_oracle()
            case e.ConsentAsked() if window.mini_mode.is_on:
                window.come_forward()  # the arguments must be seen
            case e.OracleRequested() | e.AssistantStarted() if not past:
                self._introduce_oracle()
        window.state.apply(event)
        window.asker.apply(event)
        window.panels.apply(event)
        window.system.tray.apply(event)
        for part in (window.status, window.frontend_bar, window.mini_mode):
            part.apply(event)
        window.inspector.apply(event, shown=not past)
        if not past:
            for pane in (window.transcript, window.oracle):
                pane.apply(event)

    def _show_failure(self, event: e.Failure) -> None:
        window = self._window
        topic = "cap" if event.about == "unanswered" else event.about
        button = (self.tr("Use the talk button"), lambda: window.dock.duplex.setChecked(False))
        offer = button if event.about == "echo" else None
        backend = window.backends.blame(event)
        window.messages.say(event.sentence, event.fatal, backend, event.secondary, topic, offer)

    def _introduce_oracle(self) -> None:
        """Opens the oracle by itself the first time that there is something in it, where there is room.

        Not while the talk button is held, which would move from under the mouse.
        """
        window = self._window
        if not window.keep.state.oracle_introduced and not window.state.talk.held:
            window.keep.remember(oracle_introduced=True)
            if window.panes.has_room_for_oracle():
                window.panes.oracle_action.setChecked(True)

    def _flush(self) -> None:
        """Repaint what a batch has changed; called by the pump."""
        window = self._window
        for part in (window.transcript, window.oracle, window.inspector, window.mini):
            part.settle()
        window.state.changed.emit()

    def _on_fault(self, error: Exception) -> None:
        sentence = self.tr("The window could not show something ({0}); the conversation continues.")
        self._window.messages.say(sentence.format(type(error).__name__), fault=True)

    # -- from session to session

    def before_change(self) -> None:
        """The session starts, runs or ends: what it said so far belongs to the state before."""
        self.pump.flush()
        self._window.push.set_enabled(False)  # `show_state` decides anew

    def show_phase(self, phase: Phase) -> None:
        """The session is being built, runs, or is over."""
        window = self._window
        if phase == "loading":
            window.messages.clear_retries()
            window.inspector.end()
        elif phase == "running":
            self._start()
        else:
            for pane in (window.transcript, window.oracle, window.inspector):
                pane.end()
        window.transcript.composer.set_phase(phase)
        window.sound.begin()
        if phase != "running":
            window.dock.button.show_level(float("-inf"))
            window.devices.microphone_level.clear()
            window.devices.loudspeaker_level.clear()
        window.conversations.list.mark(live=window.talks.key if phase == "running" else "")

    def _start(self) -> None:
        window = self._window
        choice = window.state.manager.wanted
        first = window.talks.begin_talk(choice)
        window.mini_mode.begin()
        window.status.begin()
        window.frontend_bar.forget_memory()
        window.transcript.begin(first)
        if choice.record_folder:
            window.replay.folders[window.transcript.talk] = Path(choice.record_folder)  # when memory no longer has it
        window.oracle.begin(window.transcript.talk)
        window.inspector.begin(first=first)
        window.messages.clear_retries()
        window.messages.clear_talk()

    def forget(self) -> None:
        """The oracle and the timeline show a conversation that is not shown any more: empty them."""
        window = self._window
        window.mini_mode.begin()
        window.replay.stop()
        window.replay.folders.clear()
        window.messages.clear_topic("unkept")
        window.oracle.clear()
        window.inspector.forget()

    def show_kept(self, talk: PastTalk) -> None:
        """Show a session of the past, of a conversation that is opened."""
        window = self._window
        if talk.folder is not None:
            window.replay.folders[window.transcript.talk] = talk.folder
        window.oracle.show_talk(talk.requests, window.transcript.talk)
        window.inspector.add_past(talk.requests)

    def show_state(self) -> None:
        """Show what may be done now, and what the session is doing."""
        window = self._window
        talk, progress = window.state.talk, window.state.progress
        running = talk.phase == "running"
        window.dock.show_state(talk, progress)
        window.devices.set_running(talk.phase)
        window.devices.microphone_level.set_muted(talk.muted)
        window.setup.compare_button.setEnabled(running)
        window.oracle.header.set_running(running)
        window.menu.secondary_action.setEnabled(running)
        window.menu.hand_action.setEnabled(running and bool(window.oracle.header.sides.comparison))
        window.push.set_enabled(talk.can_talk)
        window.status.show_state(talk, progress)
        window.mini_mode.show_state()
