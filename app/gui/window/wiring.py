"""Connects the signals of the window's parts to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QKeySequence, QShortcut

from app.conversation.record.transcript import Turn
from app.gui.shell.menu import copy_selection
from app.session.control import BackendChoice

if TYPE_CHECKING:
    from app.gui.window.main_window import MainWindow


class Wiring(QObject):
    """Connects everything when it is made, once."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._ask_next = ""
        self._session()
        self._backends()
        self._talk_button()
        self._conversations()
        self._documents()
        self._menu()
        self._focus()
        self._settings()
        self._downloads()
        if window.demo is not None:
            self._demo()

    def _session(self) -> None:
        window = self._window
        state, view, manager, starter = window.state, window.view, window.manager, window.starter
        composer = window.transcript.composer
        state.changing.connect(view.before_change)
        state.phase_changed.connect(view.show_phase)
        state.changed.connect(view.show_state)
        manager.failed.connect(self._failed)
        starter.looking.connect(self._looking)
        starter.stopped.connect(self._stopped)
        starter.backend_missing.connect(window.offers.missing_backend)
        starter.offered.connect(window.offers.came_with_file)
        composer.sent.connect(self._write)
        composer.typing.connect(window.dock.set_typing)
        window.transcript.consent.allowed.connect(state.allow)
        window.transcript.consent.denied.connect(state.deny)
        composer.talk_wanted.connect(starter.go_on)
        window.transcript.ask_wanted.connect(composer.put)
        window.transcript.welcome.asked.connect(window.asker.ask)
        window.asker.type_wanted.connect(composer.put)
        window.asker.changed.connect(state.set_asking)
        window.transcript.other_model_wanted.connect(self._ask_another)
        window.transcript.thoughts_wanted.connect(self._show_thoughts)
        window.messages.retried.connect(starter.go_on)
        window.replay.failed.connect(window.messages.say)
        window.inspector.timeline.failed.connect(window.messages.say)
        window.top_bar.new_button.clicked.connect(starter.start_fresh)
        window.menu.new_talk.connect(starter.start_fresh)
        for source in (window.devices, window.menu):
            source.stop_talk.connect(starter.stop)

    def _show_thoughts(self, turn: Turn) -> None:
        self._window.panes.oracle_action.setChecked(True)
        QTimer.singleShot(0, self, lambda: self._scroll_to_thoughts(turn))  # once the pane has its size

    def _scroll_to_thoughts(self, turn: Turn) -> None:
        if not self._window.oracle.show_turn(turn.talk, turn.number):
            words = self.tr("The thoughts behind this answer are no longer here: only the newest ones are kept.")
            self._window.messages.say(words, level="notice", topic="thoughts")

    def _ask_another(self, words: str) -> None:
        """Asks these words again once another model was picked; not if the list of models is closed without that."""
        self._ask_next = words
        self._window.setup.open_at(self._window.top_bar.pill)

    def _ask_with_picked(self) -> None:
        words, self._ask_next = self._ask_next, ""
        if words:
            self._window.transcript.composer.put(words)

    def _forget_question(self) -> None:
        self._ask_next = ""

    def _failed(self, sentence: str, retry: bool) -> None:
        window = self._window
        if window.manager.gave_up:
            window.transcript.composer.take_back()  # nothing will send it
        offer = None
        if window.frontend_bar.lacks_weights:  # which may be why
            offer = (self.tr("Download…"), lambda: window.dialogs.open_models("embedded", window.settings.frontend))
        window.messages.say(sentence, retry, offer=offer)

    def _looking(self) -> None:
        window = self._window
        window.transcript.composer.set_phase("loading")
        window.state.look_for_devices(self.tr("looking for microphones and loudspeakers"))

    def _stopped(self) -> None:
        window = self._window
        window.transcript.composer.take_back()  # nothing will send it
        window.state.set_phase("stopped")

    def _write(self, text: str) -> None:
        window = self._window
        window.push.let_go_all()  # what is typed ends what is being said
        window.state.write(text)

    def _backends(self) -> None:
        window = self._window
        manager, messages = window.manager, window.messages

        def refused(choice: BackendChoice, sentence: str) -> None:
            messages.say(sentence, backend=choice, topic="backend")

        def secondary_refused(choice: BackendChoice | None, sentence: str) -> None:
            if choice is not None:
                sentence = self.tr("The comparison model: {0}").format(sentence)
            messages.say(sentence, False, choice, True, "backend")

        manager.backends.refused.connect(refused)
        manager.backends.taken.connect(lambda _: messages.clear_refusals())
        manager.backends.secondary_refused.connect(secondary_refused)
        manager.backends.secondary_taken.connect(lambda _: messages.clear_refusals(secondary=True))
        messages.backend_wanted.connect(window.dialogs.open_backend)
        pill, setup = window.top_bar.pill, window.setup
        setup.shown.connect(pill.show_model)
        setup.tell()
        pill.clicked.connect(lambda: setup.toggle_at(pill))
        setup.backend_picked.connect(lambda _: self._ask_with_picked())
        setup.closed.connect(lambda: QTimer.singleShot(0, self, self._forget_question))  # after what was picked
        opens = QShortcut(QKeySequence("Ctrl+Shift+M"), window, lambda: setup.toggle_at(pill))
        opens.setWhatsThis(self.tr("Choose a model"))
        if window.models_controller is not None:
            setup.download_wanted.connect(window.models_controller.get)
        window.backends.changed.connect(window.keep.later)
        window.backends.changed.connect(window.talks.setup_changed)
        window.backends.save.connect(window.keep.save)

    def _talk_button(self) -> None:
        window = self._window
        push, keys, sound, button = window.push, window.keys, window.sound, window.dock.button
        push.pressed.connect(window.state.press)
        push.released.connect(window.state.release)
        button.pressed.connect(lambda: push.hold("mouse"))
        button.released.connect(lambda: push.let_go("mouse"))
        button.clicked.connect(window.starter.go_on_if_stopped)
        window.dock.duplex.toggled.connect(lambda on: window.live.change("duplex", on))
        window.dock.devices_button.clicked.connect(lambda: window.devices.toggle_at(window.dock.devices_button))
        window.dock.silence_wanted.connect(window.asker.stop)
        window.dock.silence_wanted.connect(window.state.silence)
        sound.talk_mode_changed.connect(window.set_talk_mode)
        sound.hotkeys_changed.connect(keys.set_keys)
        sound.keys_typed.connect(keys.let_type)
        keys.trouble.connect(sound.show_key_trouble)
        keys.told.connect(sound.show_granted)

    def _conversations(self) -> None:
        window = self._window
        talks, listing, messages = window.talks, window.list, window.messages
        window.dialogs.conversation_set.connect(lambda *_: talks.setup_changed())
        window.dialogs.servers_moved.connect(lambda _: talks.setup_changed())
        talks.left.connect(window.view.forget)
        talks.left.connect(lambda: messages.clear_topic("came with file"))
        talks.would_lose.connect(window.offers.open_conversation)
        talks.failed.connect(messages.say)
        talks.on_talk = window.view.show_kept
        listing.cleared.connect(window.starter.clear)
        listing.new_wanted.connect(window.starter.start_fresh)
        listing.titled.connect(window.show_title)
        listing.failed.connect(lambda sentence: messages.say(sentence, private=True))
        listing.told.connect(lambda sentence: messages.say(sentence, level="notice", private=True))

    def _documents(self) -> None:
        window = self._window
        composer, documents = window.transcript.composer, window.documents
        composer.attach_wanted.connect(documents.ask)
        window.drops.dropped.connect(documents.add)
        window.drops.hovering.connect(composer.show_drag)
        window.talks.left.connect(documents.forget_waiting)
        documents.changed.connect(window.talks.setup_changed)
        documents.failed.connect(lambda sentence: window.messages.say(sentence, private=True))

    def _menu(self) -> None:
        window = self._window
        menu = window.menu
        menu.quit.connect(window.close)
        menu.latency.connect(window.inspector.open_latency)
        window.mini.clicked.connect(lambda: window.inspector.toggle_at("timeline"))
        menu.copy.connect(lambda: copy_selection(window.transcript.view, *window.oracle.views))
        menu.find.connect(window.transcript.find_bar.appear)
        window.messages.log_wanted.connect(lambda: window.panels.open_log(fault=True))
        newest = QShortcut(QKeySequence("F6"), window, window.messages.take_focus)
        newest.setWhatsThis(self.tr("Go to the newest message"))
        opens = QShortcut(QKeySequence("F10"), window, window.top_bar.open_menu)
        opens.setWhatsThis(self.tr("Open the menu"))

    def _focus(self) -> None:
        """Who has done one of these things goes on with a message: the field gets the focus."""
        window = self._window
        routing = window.routing
        routing.sheet_wanted.connect(window.menu.keys)
        routing.escaped.connect(self._escape)
        window.transcript.composer.field.returned.connect(routing.end_typing)
        window.transcript.composer.button.clicked.connect(routing.end_typing)
        for done in (
            window.top_bar.new_button.clicked,
            window.menu.new_talk,
            window.list.new_wanted,
            window.conversations.opened,
            window.documents.asked,
            window.dock.duplex.toggled,
        ):
            done.connect(lambda *_: routing.go_home())

    def _escape(self) -> None:
        """Closes a popover, or stops what is asked, said or played, or closes the newest message: the first of these
        that there is.
        """
        window = self._window
        popover = next((one for one in (window.setup, window.devices) if one.isVisible()), None)
        if popover is not None:
            popover.shut()
        elif window.dock.silence.isVisible():
            window.dock.silence_wanted.emit()
        elif window.replay.playing:
            window.replay.stop()
        else:
            window.messages.close_newest()

    def _settings(self) -> None:
        window = self._window
        keep, live, messages = window.keep, window.live, window.messages
        live.earlier_changed.connect(window.oracle.header.earlier.setChecked)
        live.details_changed.connect(window.oracle.header.details.setChecked)
        live.motion_changed.connect(lambda reduced: setattr(window.inspector.timeline.view, "reduced_motion", reduced))
        window.oracle.header.earlier.toggled.connect(lambda shown: live.change("oracle_earlier", shown))
        window.oracle.header.details.toggled.connect(lambda shown: live.change("oracle_details", shown))
        keep.failed.connect(lambda sentence: messages.say(sentence, topic="settings"))
        keep.saved.connect(lambda: messages.clear_topic("settings"))
        keep.follow("duplex", does=window.set_duplex)
        window.sound.changed.connect(keep.later)

    def _downloads(self) -> None:
        window = self._window
        messages, frontend, graphics = window.messages, window.frontend_bar, window.graphics
        frontend.download_wanted.connect(lambda key: window.dialogs.open_models("embedded", key))
        frontend.arrived.connect(window.starter.restart_soon)
        window.panels.frontend_arrived.connect(window.offers.frontend)
        window.panels.model_arrived.connect(window.offers.model)
        if window.models_controller is not None:
            window.models_controller.failed.connect(window.offers.download_failed)
        if graphics is not None:
            graphics.restarting.connect(window.close)
            graphics.arrived_unseen.connect(window.offers.restart)
            graphics.failed_unseen.connect(lambda sentence: messages.say(sentence, topic="graphics"))

    def _demo(self) -> None:
        window = self._window
        demo = window.demo
        assert demo is not None
        window.menu.demo.connect(demo.open)
        demo.began.connect(window.starter.cancel)
        demo.ended.connect(lambda again: window.starter.go_on_if_stopped() if again else None)
        demo.failed.connect(window.messages.say)
        window.starter.taking_over.connect(demo.make_way)
