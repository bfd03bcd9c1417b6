<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
<context>
    <name></name>
    <message>
        <source>A few sentences</source>
        <translation>Ein paar Sätze</translation>
    </message>
    <message>
        <source>A folder that already holds the weights; empty for the app&apos;s own downloads.</source>
        <translation>Ein Ordner, in dem die Gewichte schon liegen; leer: was die App selbst herunterlädt.</translation>
    </message>
    <message>
        <source>A mirror of the hub for downloads; empty for the hub itself.</source>
        <translation>Ein Spiegelserver des Hubs zum Herunterladen; leer: der Hub selbst.</translation>
    </message>
    <message>
        <source>A model elsewhere gets the words of a conversation.</source>
        <translation>Ein Modell anderswo bekommt die Worte eines Gesprächs.</translation>
    </message>
    <message>
        <source>A notification shows the first words of an answer while the window is hidden or minimised; never those of a conversation that is not kept. It needs the icon in the tray.</source>
        <translation>Eine Benachrichtigung zeigt die ersten Worte einer Antwort, während das Fenster verborgen oder minimiert ist; nie die eines Gesprächs, das nicht behalten wird. Dafür muss das Symbol in der Taskleiste an sein.</translation>
    </message>
    <message>
        <source>A sentence or two</source>
        <translation>Ein, zwei Sätze</translation>
    </message>
    <message>
        <source>Accent</source>
        <translation>Akzent</translation>
    </message>
    <message>
        <source>Add MCP servers, whose tools a model may use.</source>
        <translation>MCP-Server hinzufügen, deren Werkzeuge ein Modell benutzen darf.</translation>
    </message>
    <message>
        <source>Address of the other server</source>
        <translation>Adresse des anderen Servers</translation>
    </message>
    <message>
        <source>Advanced</source>
        <translation>Erweitert</translation>
    </message>
    <message>
        <source>Also saves the sound and the events of each conversation on this machine. Otherwise no sound is kept.</source>
        <translation>Speichert auch den Ton und die Ereignisse jedes Gesprächs auf diesem Rechner. Sonst wird kein Ton aufbewahrt.</translation>
    </message>
    <message>
        <source>Another server</source>
        <translation>Anderer Server</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>Antwort</translation>
    </message>
    <message>
        <source>Answer delay</source>
        <translation>Antwortpause</translation>
    </message>
    <message>
        <source>Answers</source>
        <translation>Antworten</translation>
    </message>
    <message>
        <source>Anthropic</source>
        <translation>Anthropic</translation>
    </message>
    <message>
        <source>Anthropic model</source>
        <translation>Anthropic-Modell</translation>
    </message>
    <message>
        <source>Any server that speaks the OpenAI protocol, like http://127.0.0.1:8080/v1.</source>
        <translation>Jeder Server, der das OpenAI-Protokoll spricht, etwa http://127.0.0.1:8080/v1.</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>Aussehen</translation>
    </message>
    <message>
        <source>As long as it takes</source>
        <translation>So lang wie nötig</translation>
    </message>
    <message>
        <source>As much as fits</source>
        <translation>So viel wie passt</translation>
    </message>
    <message>
        <source>Asks one address once a day which version is the newest. Nothing about you, this machine or this version is sent. While this is off, nothing is asked.</source>
        <translation>Fragt einmal am Tag eine Adresse nach der neuesten Version. Über dich, diesen Rechner oder diese Version wird nichts gesendet. Ausgeschaltet wird nichts gefragt.</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>Automatisch</translation>
    </message>
    <message>
        <source>Automatic gain</source>
        <translation>Automatische Verstärkung</translation>
    </message>
    <message>
        <source>Blue</source>
        <translation>Blau</translation>
    </message>
    <message>
        <source>Built-in</source>
        <translation>Eingebaut</translation>
    </message>
    <message>
        <source>Built-in model</source>
        <translation>Eingebautes Modell</translation>
    </message>
    <message>
        <source>Built-in voice</source>
        <translation>Eingebaute Stimme</translation>
    </message>
    <message>
        <source>Built-in voice (CPU)</source>
        <translation>Eingebaute Stimme (CPU)</translation>
    </message>
    <message>
        <source>Change persona, voice, length, tools and limit here.</source>
        <translation>Persona, Stimme, Länge, Werkzeuge und Grenze hier ändern.</translation>
    </message>
    <message>
        <source>Check for new versions</source>
        <translation>Nach neuen Versionen suchen</translation>
    </message>
    <message>
        <source>Check this machine</source>
        <translation>Diesen Rechner prüfen</translation>
    </message>
    <message>
        <source>Choose the model that answers, and enter its key.</source>
        <translation>Das Modell wählen, das antwortet, und seinen Schlüssel eingeben.</translation>
    </message>
    <message>
        <source>Closing the window hides it, and the conversation continues. The icon&apos;s menu shows it again, or quits.</source>
        <translation>Wird das Fenster geschlossen, ist es nur verborgen, und das Gespräch geht weiter. Das Menü des Symbols zeigt es wieder oder beendet KAME.</translation>
    </message>
    <message>
        <source>Commands like “{0} ptt toggle” can&apos;t reach this window ({1}). All else works; start the app again to try again.</source>
        <translation>Befehle wie „{0} ptt toggle“ erreichen dieses Fenster nicht ({1}). Alles andere funktioniert; starte die App neu, um es noch einmal zu versuchen.</translation>
    </message>
    <message>
        <source>Comparison model</source>
        <translation>Vergleichsmodell</translation>
    </message>
    <message>
        <source>Conversations</source>
        <translation>Gespräche</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Dunkel</translation>
    </message>
    <message>
        <source>Detect</source>
        <translation>Erkennen</translation>
    </message>
    <message>
        <source>Devices</source>
        <translation>Geräte</translation>
    </message>
    <message>
        <source>Download models, and see how fast they are here.</source>
        <translation>Modelle herunterladen und sehen, wie schnell sie hier sind.</translation>
    </message>
    <message>
        <source>Download others, and see how fast they are here.</source>
        <translation>Andere herunterladen und sehen, wie schnell sie hier sind.</translation>
    </message>
    <message>
        <source>Downloads</source>
        <translation>Downloads</translation>
    </message>
    <message>
        <source>Earlier thoughts</source>
        <translation>Frühere Gedanken</translation>
    </message>
    <message>
        <source>Echo cancellation</source>
        <translation>Echounterdrückung</translation>
    </message>
    <message>
        <source>English</source>
        <translation>Englisch</translation>
    </message>
    <message>
        <source>Essentials</source>
        <translation>Das Wichtigste</translation>
    </message>
    <message>
        <source>Faster, quicker</source>
        <translation>Schneller, flotter</translation>
    </message>
    <message>
        <source>Filler phrases</source>
        <translation>Füllsätze</translation>
    </message>
    <message>
        <source>Folders</source>
        <translation>Ordner</translation>
    </message>
    <message>
        <source>French</source>
        <translation>Französisch</translation>
    </message>
    <message>
        <source>General</source>
        <translation>Allgemein</translation>
    </message>
    <message>
        <source>German</source>
        <translation>Deutsch</translation>
    </message>
    <message>
        <source>Global hotkeys</source>
        <translation>Globale Tastenkürzel</translation>
    </message>
    <message>
        <source>Google</source>
        <translation>Google</translation>
    </message>
    <message>
        <source>Google model</source>
        <translation>Google-Modell</translation>
    </message>
    <message>
        <source>Graphite</source>
        <translation>Graphit</translation>
    </message>
    <message>
        <source>Green</source>
        <translation>Grün</translation>
    </message>
    <message>
        <source>Hands-free</source>
        <translation>Freisprechen</translation>
    </message>
    <message>
        <source>Hear voices, and download others.</source>
        <translation>Stimmen anhören und andere herunterladen.</translation>
    </message>
    <message>
        <source>High contrast</source>
        <translation>Hoher Kontrast</translation>
    </message>
    <message>
        <source>Hold it while you talk</source>
        <translation>Beim Sprechen gedrückt halten</translation>
    </message>
    <message>
        <source>How fast the voice speaks, relative to its own pace.</source>
        <translation>Wie schnell die Stimme spricht, gemessen an ihrem eigenen Tempo.</translation>
    </message>
    <message>
        <source>How freely the model chooses its words: 0 is sober and the same each time, 2 is wild.</source>
        <translation>Wie frei das Sprachmodell seine Worte wählt: 0 ist nüchtern und jedes Mal gleich, 2 ist wild.</translation>
    </message>
    <message>
        <source>How long KAME or Moshi waits after you have spoken.</source>
        <translation>Wie lange KAME oder Moshi wartet, nachdem du gesprochen hast.</translation>
    </message>
    <message>
        <source>How long KAME waits in a pause before it treats your turn as finished: 0 answers soonest, 10 waits longest. It also learns how long your own pauses are.</source>
        <translation>Wie lange KAME in einer Pause wartet, bevor es deinen Beitrag für beendet hält: 0 antwortet am schnellsten, 10 wartet am längsten. Es lernt auch, wie lang deine eigenen Pausen sind.</translation>
    </message>
    <message>
        <source>How long answers are.</source>
        <translation>Wie lang Antworten sind.</translation>
    </message>
    <message>
        <source>How loud the voice is, before the loudspeaker&apos;s own volume.</source>
        <translation>Wie laut die Stimme ist, vor der Lautstärke des Lautsprechers.</translation>
    </message>
    <message>
        <source>How much later than the transcriber KAME or Moshi hears you.</source>
        <translation>Um wie viel später als die Spracherkennung KAME oder Moshi dich hört.</translation>
    </message>
    <message>
        <source>How much of a conversation KAME and Moshi remember. A shorter memory takes less of the graphics card&apos;s own, and of its time.</source>
        <translation>Wie viel von einem Gespräch KAME und Moshi im Gedächtnis behalten. Ein kürzeres Gedächtnis braucht weniger Speicher der Grafikkarte und weniger von ihrer Zeit.</translation>
    </message>
    <message>
        <source>How the talk button and its keys are used.</source>
        <translation>Wie die Sprechtaste und ihre Tastenkürzel benutzt werden.</translation>
    </message>
    <message>
        <source>How the weights of KAME and Moshi are stored on the graphics card.</source>
        <translation>Wie die Gewichte von KAME und Moshi auf der Grafikkarte gespeichert sind.</translation>
    </message>
    <message>
        <source>Icon in the tray</source>
        <translation>Symbol in der Taskleiste</translation>
    </message>
    <message>
        <source>Italian</source>
        <translation>Italienisch</translation>
    </message>
    <message>
        <source>KAME</source>
        <translation>KAME</translation>
    </message>
    <message>
        <source>KAME (GPU): speaks while it thinks</source>
        <translation>KAME (GPU): spricht, während es denkt</translation>
    </message>
    <message>
        <source>KAME and Moshi</source>
        <translation>KAME und Moshi</translation>
    </message>
    <message>
        <source>KAME is running already, but its window did not answer. Wait a moment and start it again; if that does not help, end it in the system&apos;s list of programs first.</source>
        <translation>KAME läuft schon, aber das Fenster hat nicht geantwortet. Warte einen Moment und starte KAME dann noch einmal; wenn das nicht hilft, beende es zuerst in der Programmliste des Systems.</translation>
    </message>
    <message>
        <source>KAME starts when you log in: in the tray where its icon is switched on, else with its window minimised.</source>
        <translation>KAME startet, wenn du dich anmeldest: in der Taskleiste, wenn sein Symbol an ist, sonst mit minimiertem Fenster.</translation>
    </message>
    <message>
        <source>Keep conversations</source>
        <translation>Gespräche aufbewahren</translation>
    </message>
    <message>
        <source>Keep recordings</source>
        <translation>Aufnahmen aufbewahren</translation>
    </message>
    <message>
        <source>Keeps conversations on this machine: what was said, not its sound.</source>
        <translation>Bewahrt Gespräche auf diesem Rechner auf: was gesagt wurde, nicht den Ton.</translation>
    </message>
    <message>
        <source>Larger, bigger, increase, zoom in</source>
        <translation>Größer, vergrößern, zoomen</translation>
    </message>
    <message>
        <source>Length</source>
        <translation>Länge</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Hell</translation>
    </message>
    <message>
        <source>Light or dark colours, or black and white with strong contrast.</source>
        <translation>Helle oder dunkle Farben, oder Schwarz und Weiß mit starkem Kontrast.</translation>
    </message>
    <message>
        <source>Like the system</source>
        <translation>Wie das System</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Protokoll</translation>
    </message>
    <message>
        <source>Longer</source>
        <translation>Länger</translation>
    </message>
    <message>
        <source>Louder</source>
        <translation>Lauter</translation>
    </message>
    <message>
        <source>Loudspeaker</source>
        <translation>Lautsprecher</translation>
    </message>
    <message>
        <source>Makes a quiet voice louder, and all other sounds with it.</source>
        <translation>Macht eine leise Stimme lauter und mit ihr alle anderen Geräusche.</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Gedächtnis</translation>
    </message>
    <message>
        <source>Microphone</source>
        <translation>Mikrofon</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Sprachmodell</translation>
    </message>
    <message>
        <source>Model and its key</source>
        <translation>Modell und sein Schlüssel</translation>
    </message>
    <message>
        <source>Model on the other server</source>
        <translation>Modell auf dem anderen Server</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>Models and servers</source>
        <translation>Modelle und Server</translation>
    </message>
    <message>
        <source>Models on this computer</source>
        <translation>Modelle auf diesem Rechner</translation>
    </message>
    <message>
        <source>More recognisers</source>
        <translation>Weitere Erkenner</translation>
    </message>
    <message>
        <source>More voices</source>
        <translation>Weitere Stimmen</translation>
    </message>
    <message>
        <source>Moshi</source>
        <translation>Moshi</translation>
    </message>
    <message>
        <source>Moshi (GPU): by itself, without a language model</source>
        <translation>Moshi (GPU): allein, ohne Sprachmodell</translation>
    </message>
    <message>
        <source>Mute hotkey</source>
        <translation>Tastenkürzel: stumm</translation>
    </message>
    <message>
        <source>Mutes the microphone while another window has the keyboard; empty for none.</source>
        <translation>Zum Stummschalten des Mikrofons, während ein anderes Fenster die Tastatur hat; leer: keins.</translation>
    </message>
    <message>
        <source>Name of the comparison model</source>
        <translation>Name des Vergleichsmodells</translation>
    </message>
    <message>
        <source>New versions</source>
        <translation>Neue Versionen</translation>
    </message>
    <message>
        <source>Noise suppression</source>
        <translation>Rauschunterdrückung</translation>
    </message>
    <message>
        <source>Nothing slides, pulses or fades: changes appear immediately.</source>
        <translation>Nichts gleitet, pulsiert oder blendet über: Änderungen sind sofort da.</translation>
    </message>
    <message>
        <source>Notify me about answers</source>
        <translation>Über Antworten benachrichtigen</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>Aus</translation>
    </message>
    <message>
        <source>Ollama</source>
        <translation>Ollama</translation>
    </message>
    <message>
        <source>Ollama model</source>
        <translation>Ollama-Modell</translation>
    </message>
    <message>
        <source>Ollama server</source>
        <translation>Ollama-Server</translation>
    </message>
    <message>
        <source>On</source>
        <translation>An</translation>
    </message>
    <message>
        <source>One minute</source>
        <translation>Eine Minute</translation>
    </message>
    <message>
        <source>Only for this conversation</source>
        <translation>Nur für dieses Gespräch</translation>
    </message>
    <message>
        <source>OpenAI</source>
        <translation>OpenAI</translation>
    </message>
    <message>
        <source>OpenAI model</source>
        <translation>OpenAI-Modell</translation>
    </message>
    <message>
        <source>OpenAI, Anthropic, Google, Ollama and other servers: addresses, models and keys.</source>
        <translation>OpenAI, Anthropic, Google, Ollama und andere Server: Adressen, Modelle und Schlüssel.</translation>
    </message>
    <message>
        <source>Oracle lead</source>
        <translation>Orakelvorlauf</translation>
    </message>
    <message>
        <source>Orange</source>
        <translation>Orange</translation>
    </message>
    <message>
        <source>Patience</source>
        <translation>Geduld</translation>
    </message>
    <message>
        <source>Persona</source>
        <translation>Persona</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>Genauigkeit</translation>
    </message>
    <message>
        <source>Press once to talk, once to end</source>
        <translation>Zum Sprechen und Beenden drücken</translation>
    </message>
    <message>
        <source>Prices</source>
        <translation>Preise</translation>
    </message>
    <message>
        <source>Privacy</source>
        <translation>Privatsphäre</translation>
    </message>
    <message>
        <source>Processing of the microphone&apos;s sound</source>
        <translation>Verarbeitung des Mikrofontons</translation>
    </message>
    <message>
        <source>Quieter</source>
        <translation>Leiser</translation>
    </message>
    <message>
        <source>Reduced motion</source>
        <translation>Weniger Bewegung</translation>
    </message>
    <message>
        <source>Removes steady noise such as a fan; a voice may lose some brightness.</source>
        <translation>Entfernt gleichmäßiges Geräusch wie das eines Lüfters; eine Stimme kann etwas an Helligkeit verlieren.</translation>
    </message>
    <message>
        <source>Removes the app&apos;s own voice from the microphone&apos;s sound, so that you can interrupt it on loudspeakers.</source>
        <translation>Nimmt die eigene Stimme der App aus dem Ton des Mikrofons, damit du sie auch mit Lautsprechern unterbrechen kannst.</translation>
    </message>
    <message>
        <source>Request details</source>
        <translation>Einzelheiten der Anfragen</translation>
    </message>
    <message>
        <source>Rose</source>
        <translation>Rosa</translation>
    </message>
    <message>
        <source>Say something, hear it again, and see what is measured.</source>
        <translation>Etwas sagen, es wieder hören und sehen, was gemessen wird.</translation>
    </message>
    <message>
        <source>See what fits it, and set up its graphics card.</source>
        <translation>Sehen, was auf ihn passt, und seine Grafikkarte einrichten.</translation>
    </message>
    <message>
        <source>Server of the comparison model</source>
        <translation>Server des Vergleichsmodells</translation>
    </message>
    <message>
        <source>Servers and API keys</source>
        <translation>Server und API-Schlüssel</translation>
    </message>
    <message>
        <source>Shorter</source>
        <translation>Kürzer</translation>
    </message>
    <message>
        <source>Shows whether KAME listens, speaks or is muted, and has a menu to talk and to mute.</source>
        <translation>Zeigt, ob KAME zuhört, spricht oder stumm ist, und hat ein Menü zum Sprechen und Stummschalten.</translation>
    </message>
    <message>
        <source>Slower</source>
        <translation>Langsamer</translation>
    </message>
    <message>
        <source>Smaller, decrease, zoom out</source>
        <translation>Kleiner, verkleinern</translation>
    </message>
    <message>
        <source>Sound</source>
        <translation>Ton</translation>
    </message>
    <message>
        <source>Spanish</source>
        <translation>Spanisch</translation>
    </message>
    <message>
        <source>Speaking rate</source>
        <translation>Sprechtempo</translation>
    </message>
    <message>
        <source>Speaking volume</source>
        <translation>Sprechlautstärke</translation>
    </message>
    <message>
        <source>Speech recognition</source>
        <translation>Spracherkennung</translation>
    </message>
    <message>
        <source>Spending limit</source>
        <translation>Ausgabengrenze</translation>
    </message>
    <message>
        <source>Spoken language</source>
        <translation>Gesprochene Sprache</translation>
    </message>
    <message>
        <source>Spoken voice</source>
        <translation>Sprechstimme</translation>
    </message>
    <message>
        <source>Start and end</source>
        <translation>Start und Ende</translation>
    </message>
    <message>
        <source>Start at login</source>
        <translation>Beim Anmelden starten</translation>
    </message>
    <message>
        <source>Stay in the tray</source>
        <translation>In der Taskleiste bleiben</translation>
    </message>
    <message>
        <source>Taking turns</source>
        <translation>Abwechselnd sprechen</translation>
    </message>
    <message>
        <source>Talk button</source>
        <translation>Sprechtaste</translation>
    </message>
    <message>
        <source>Talk hotkey</source>
        <translation>Tastenkürzel: sprechen</translation>
    </message>
    <message>
        <source>Talks while another window has the keyboard; empty for none.</source>
        <translation>Zum Sprechen, während ein anderes Fenster die Tastatur hat; leer: keins.</translation>
    </message>
    <message>
        <source>Teal</source>
        <translation>Petrol</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>Temperatur</translation>
    </message>
    <message>
        <source>Text size</source>
        <translation>Textgröße</translation>
    </message>
    <message>
        <source>The address of the machine that hears and speaks for this one, such as ws://192.168.1.20:8998.</source>
        <translation>Die Adresse des Rechners, der für diesen hier hört und spricht, etwa ws://192.168.1.20:8998.</translation>
    </message>
    <message>
        <source>The app&apos;s own model that answers; empty for the best one that is here.</source>
        <translation>Das Modell der App, das antwortet; leer für das beste, das hier ist.</translation>
    </message>
    <message>
        <source>The application log, for troubleshooting.</source>
        <translation>Das Protokoll der App, für die Fehlersuche.</translation>
    </message>
    <message>
        <source>The built-in voice says something short like “Hmm,” or “Let me think.” if its answer takes more than a second.</source>
        <translation>Die eingebaute Stimme sagt etwas Kurzes wie „Hm,“ oder „Lass mich überlegen.“, wenn ihre Antwort mehr als eine Sekunde braucht.</translation>
    </message>
    <message>
        <source>The colour of what is chosen, and of the main buttons.</source>
        <translation>Die Farbe dessen, was gewählt ist, und der wichtigsten Tasten.</translation>
    </message>
    <message>
        <source>The folders that the tool “files” may read, one a line.</source>
        <translation>Die Ordner, die das Werkzeug „Dateien“ lesen darf, einer pro Zeile.</translation>
    </message>
    <message>
        <source>The language of the window&apos;s words, not of the conversation.</source>
        <translation>Die Sprache der Texte im Fenster, nicht die des Gesprächs.</translation>
    </message>
    <message>
        <source>The language that you speak and are answered in. KAME and Moshi speak English only. In English your words help to tell when you have finished; in other languages only sound and silence do.</source>
        <translation>Die Sprache, in der du sprichst und Antworten bekommst. KAME und Moshi sprechen nur Englisch. Im Englischen helfen deine Worte zu erkennen, wann du fertig bist; in anderen Sprachen nur Klang und Stille.</translation>
    </message>
    <message>
        <source>The model that answers also names each new conversation, in one short request. Very small models don&apos;t.</source>
        <translation>Das Modell, das antwortet, benennt auch jedes neue Gespräch, mit einer kurzen Anfrage. Sehr kleine Modelle tun es nicht.</translation>
    </message>
    <message>
        <source>The model that hears you; empty for the app&apos;s choice for your language.</source>
        <translation>Das Modell, das dich hört; leer: was die App für deine Sprache wählt.</translation>
    </message>
    <message>
        <source>The model whose answers are shown beside the spoken ones; empty for none.</source>
        <translation>Das Sprachmodell, dessen Antworten neben den gesprochenen erscheinen; leer: keins.</translation>
    </message>
    <message>
        <source>The model&apos;s name; empty for the default one.</source>
        <translation>Der Name des Modells; leer: das voreingestellte.</translation>
    </message>
    <message>
        <source>The model&apos;s name; empty for the first one there.</source>
        <translation>Der Name des Modells; leer: das erste, das da ist.</translation>
    </message>
    <message>
        <source>The model&apos;s name; empty for the server&apos;s first.</source>
        <translation>Der Name des Modells; leer: das erste des Servers.</translation>
    </message>
    <message>
        <source>The oracle shows the earlier answers, too, not only the current one.</source>
        <translation>Das Orakel zeigt auch die früheren Antworten, nicht nur die gültige.</translation>
    </message>
    <message>
        <source>The oracle shows what was asked, how fast each answer came, and what it cost.</source>
        <translation>Das Orakel zeigt, was gefragt wurde, wie schnell jede Antwort kam und was sie gekostet hat.</translation>
    </message>
    <message>
        <source>The size of all text, relative to the system&apos;s.</source>
        <translation>Die Größe aller Texte, gemessen an der des Systems.</translation>
    </message>
    <message>
        <source>The voice</source>
        <translation>Die Stimme</translation>
    </message>
    <message>
        <source>The voice that answers; empty for the app&apos;s choice for your language.</source>
        <translation>Die Stimme, die antwortet; leer: was die App für deine Sprache wählt.</translation>
    </message>
    <message>
        <source>Theme</source>
        <translation>Farbschema</translation>
    </message>
    <message>
        <source>Titles by the model</source>
        <translation>Titel vom Modell</translation>
    </message>
    <message>
        <source>Tool servers</source>
        <translation>Werkzeugserver</translation>
    </message>
    <message>
        <source>Tools</source>
        <translation>Werkzeuge</translation>
    </message>
    <message>
        <source>Try them out</source>
        <translation>Ausprobieren</translation>
    </message>
    <message>
        <source>Two minutes</source>
        <translation>Zwei Minuten</translation>
    </message>
    <message>
        <source>US dollars that a conversation may cost. At the limit, models that cost money are no longer asked.</source>
        <translation>US-Dollar, die ein Gespräch kosten darf. An der Grenze werden Modelle, die Geld kosten, nicht mehr gefragt.</translation>
    </message>
    <message>
        <source>Violet</source>
        <translation>Violett</translation>
    </message>
    <message>
        <source>Voice</source>
        <translation>Stimme</translation>
    </message>
    <message>
        <source>Voice engine</source>
        <translation>Sprachmodul</translation>
    </message>
    <message>
        <source>Voice server</source>
        <translation>Sprachserver</translation>
    </message>
    <message>
        <source>Voice server (another machine)</source>
        <translation>Sprachserver (ein anderer Rechner)</translation>
    </message>
    <message>
        <source>Voice that answers</source>
        <translation>Stimme, die antwortet</translation>
    </message>
    <message>
        <source>Volume of the voice</source>
        <translation>Lautstärke der Stimme</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source>Weights mirror</source>
        <translation>Spiegelserver der Gewichte</translation>
    </message>
    <message>
        <source>What hears and speaks. KAME and Moshi need a graphics card and weights to be downloaded. A voice server is another machine that runs this app with “kame-desktop serve”, or a server of Moshi or KAME.</source>
        <translation>Was hört und spricht. KAME und Moshi brauchen eine Grafikkarte, und ihre Gewichte müssen heruntergeladen werden. Ein Sprachserver ist ein anderer Rechner, auf dem diese App mit „kame-desktop serve“ läuft, oder ein Server von Moshi oder KAME.</translation>
    </message>
    <message>
        <source>What models cost; the spending limit is counted by them.</source>
        <translation>Was Modelle kosten; danach richtet sich die Ausgabengrenze.</translation>
    </message>
    <message>
        <source>What speaks to you. It can be changed during a conversation.</source>
        <translation>Woraus du Antworten hörst. Er lässt sich während eines Gesprächs wechseln.</translation>
    </message>
    <message>
        <source>What the model may use, one a line: calculator, clock, files, and mcp:NAME for an MCP server.</source>
        <translation>Was das Sprachmodell benutzen darf, eins pro Zeile: calculator, clock, files und mcp:NAME für einen MCP-Server.</translation>
    </message>
    <message>
        <source>What you speak into. It can be changed during a conversation.</source>
        <translation>Worin du sprichst. Es lässt sich während eines Gesprächs wechseln.</translation>
    </message>
    <message>
        <source>When I finish</source>
        <translation>Wenn ich fertig bin</translation>
    </message>
    <message>
        <source>When the model starts to work on the answer.</source>
        <translation>Wann das Sprachmodell anfängt, an der Antwort zu arbeiten.</translation>
    </message>
    <message>
        <source>Where Ollama listens.</source>
        <translation>Wo Ollama zu erreichen ist.</translation>
    </message>
    <message>
        <source>Where it is; empty for the default address.</source>
        <translation>Wo er ist; leer: die übliche Adresse.</translation>
    </message>
    <message>
        <source>Where your words go</source>
        <translation>Wohin deine Worte gehen</translation>
    </message>
    <message>
        <source>Which language model answers.</source>
        <translation>Welches Sprachmodell antwortet.</translation>
    </message>
    <message>
        <source>While I speak</source>
        <translation>Während ich spreche</translation>
    </message>
    <message>
        <source>Who answers, in your words: “You are a patient teacher of physics.” Empty for a friendly voice assistant.</source>
        <translation>Wer antwortet, in deinen Worten: „Du bist eine geduldige Physiklehrerin.“ Leer: ein freundlicher Sprachassistent.</translation>
    </message>
    <message>
        <source>Window language</source>
        <translation>Sprache des Fensters</translation>
    </message>
    <message>
        <source>With the next conversation</source>
        <translation>Mit dem nächsten Gespräch</translation>
    </message>
    <message>
        <source>With the next start</source>
        <translation>Beim nächsten Start</translation>
    </message>
    <message>
        <source>Your voice alone starts and ends your turns, without the talk button.</source>
        <translation>Deine Stimme allein beginnt und beendet deine Redebeiträge, ohne Sprechtaste.</translation>
    </message>
    <message>
        <source>animations</source>
        <translation>Animationen</translation>
    </message>
    <message>
        <source>autostart, boot</source>
        <translation>Autostart, hochfahren</translation>
    </message>
    <message>
        <source>background, hide</source>
        <translation>Hintergrund, verstecken</translation>
    </message>
    <message>
        <source>bf16, for 24 GB</source>
        <translation>bf16, für 24 GB</translation>
    </message>
    <message>
        <source>brief, detailed</source>
        <translation>kurz, ausführlich</translation>
    </message>
    <message>
        <source>colours</source>
        <translation>Farben</translation>
    </message>
    <message>
        <source>colours, appearance, mode, night</source>
        <translation>Farben, Aussehen, Modus, Nacht, dunkel, hell</translation>
    </message>
    <message>
        <source>conversation mode, always listening</source>
        <translation>Gesprächsmodus, immer zuhören</translation>
    </message>
    <message>
        <source>cost, money, budget</source>
        <translation>Kosten, Geld, Budget</translation>
    </message>
    <message>
        <source>creativity</source>
        <translation>Kreativität</translation>
    </message>
    <message>
        <source>font, letters, zoom, percent</source>
        <translation>Schrift, Buchstaben, Zoom, Prozent</translation>
    </message>
    <message>
        <source>functions, calculator, mcp</source>
        <translation>Funktionen, Rechner, MCP</translation>
    </message>
    <message>
        <source>history, private, incognito</source>
        <translation>Verlauf, privat, inkognito</translation>
    </message>
    <message>
        <source>hmm, let me think</source>
        <translation>hm, lass mich überlegen</translation>
    </message>
    <message>
        <source>input</source>
        <translation>Eingang</translation>
    </message>
    <message>
        <source>int4, for 8 GB</source>
        <translation>int4, für 8 GB</translation>
    </message>
    <message>
        <source>int8, for 12 to 16 GB</source>
        <translation>int8, für 12 bis 16 GB</translation>
    </message>
    <message>
        <source>interface, locale, deutsch, englisch</source>
        <translation>Oberfläche, Sprache, english, german, englisch</translation>
    </message>
    <message>
        <source>kame, moshi, front-end</source>
        <translation>KAME, Moshi, Front-End</translation>
    </message>
    <message>
        <source>loudness</source>
        <translation>Lautstärke</translation>
    </message>
    <message>
        <source>menu bar, background</source>
        <translation>Menüleiste, Hintergrund</translation>
    </message>
    <message>
        <source>name, rename, heading</source>
        <translation>Name, umbenennen, Überschrift</translation>
    </message>
    <message>
        <source>no limit</source>
        <translation>keine Grenze</translation>
    </message>
    <message>
        <source>notifications, alerts</source>
        <translation>Benachrichtigungen, Hinweise</translation>
    </message>
    <message>
        <source>output, headphones</source>
        <translation>Ausgang, Kopfhörer</translation>
    </message>
    <message>
        <source>pauses, wait</source>
        <translation>Pausen, warten</translation>
    </message>
    <message>
        <source>push to talk</source>
        <translation>Sprechtaste</translation>
    </message>
    <message>
        <source>record, sound</source>
        <translation>aufnehmen, Ton</translation>
    </message>
    <message>
        <source>shortcut</source>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <source>shortcut, push to talk</source>
        <translation>Tastenkürzel, Sprechtaste</translation>
    </message>
    <message>
        <source>speaker, accent</source>
        <translation>Sprecher, Akzent</translation>
    </message>
    <message>
        <source>speed, pace</source>
        <translation>Geschwindigkeit, Tempo</translation>
    </message>
    <message>
        <source>system prompt, instructions, role</source>
        <translation>Systemprompt, Anweisungen, Rolle</translation>
    </message>
    <message>
        <source>the model&apos;s own</source>
        <translation>Vorgabe des Modells</translation>
    </message>
    <message>
        <source>thinking, mode</source>
        <translation>Denken, Modus</translation>
    </message>
    <message>
        <source>tiny, for trying out</source>
        <translation>winzig, zum Ausprobieren</translation>
    </message>
    <message>
        <source>transcription, dictation, hearing</source>
        <translation>Transkription, Diktat, Hören</translation>
    </message>
    <message>
        <source>translate, translation, deutsch, englisch</source>
        <translation>übersetzen, Übersetzung, english, german, englisch</translation>
    </message>
    <message>
        <source>updates, upgrade</source>
        <translation>Updates, aktualisieren</translation>
    </message>
    <message>
        <source>“{0}” can&apos;t be a hotkey. Choose a letter, a digit or a function key, with Ctrl or Alt.</source>
        <translation>„{0}“ eignet sich nicht als Tastenkürzel. Wähle einen Buchstaben, eine Ziffer oder eine Funktionstaste, mit Strg oder Alt.</translation>
    </message>
    <message>
        <source>“{0}” is needed in every program, so it can&apos;t be a hotkey. Choose other keys.</source>
        <translation>„{0}“ wird in jedem Programm gebraucht und eignet sich nicht als Tastenkürzel. Wähle andere Tasten.</translation>
    </message>
    <message>
        <source>“{0}” is not one key, so it can&apos;t be a hotkey. Choose a single combination.</source>
        <translation>„{0}“ ist nicht eine einzige Taste und eignet sich nicht als Tastenkürzel. Wähle eine einzelne Kombination.</translation>
    </message>
    <message>
        <source>“{0}” is on the number pad, whose keys can&apos;t be hotkeys. Choose another key.</source>
        <translation>„{0}“ liegt auf dem Ziffernblock, dessen Tasten sich nicht als Tastenkürzel eignen. Wähle eine andere Taste.</translation>
    </message>
    <message>
        <source>“{0}” would be taken from every program, so it can&apos;t be a hotkey. Add Ctrl, Alt or both.</source>
        <translation>„{0}“ würde jedem Programm weggenommen und eignet sich nicht als Tastenkürzel. Nimm Strg, Alt oder beide dazu.</translation>
    </message>
</context>
<context>
    <name>AboutDialog</name>
    <message>
        <source>&amp;Back</source>
        <translation>&amp;Zurück</translation>
    </message>
    <message>
        <source>&amp;Licences</source>
        <translation>&amp;Lizenzen</translation>
    </message>
    <message>
        <source>A voice assistant that talks while it thinks: a voice that answers at once, and behind it any language model, whose words reach the voice while it already speaks.</source>
        <translation>Ein Sprachassistent, der spricht, während er denkt: eine Stimme, die sofort antwortet, und dahinter ein beliebiges Sprachmodell, dessen Worte die Stimme erreichen, während sie schon spricht.</translation>
    </message>
    <message>
        <source>About KAME</source>
        <translation>Über KAME</translation>
    </message>
    <message>
        <source>Back to what KAME is</source>
        <translation>Zurück zu dem, was KAME ist</translation>
    </message>
    <message>
        <source>Based on Sakana AI&apos;s tandem design KAME (arXiv 2510.02327) and on Kyutai&apos;s Moshi. With the models on this machine, nothing of what you say leaves it.</source>
        <translation>Beruht auf Sakana AIs Tandem KAME (arXiv 2510.02327) und auf Kyutais Moshi. Mit den Modellen auf diesem Rechner verlässt ihn nichts von dem, was du sagst.</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Free software under the Apache License 2.0. What it is made of has licences of its own.</source>
        <translation>Freie Software unter der Apache-Lizenz 2.0. Woraus sie besteht, hat eigene Lizenzen.</translation>
    </message>
    <message>
        <source>KAME Desktop</source>
        <translation>KAME Desktop</translation>
    </message>
    <message>
        <source>Licences</source>
        <translation>Lizenzen</translation>
    </message>
    <message>
        <source>Made of</source>
        <translation>Bestandteile</translation>
    </message>
    <message>
        <source>Open the &amp;guide</source>
        <translation>&amp;Anleitung öffnen</translation>
    </message>
    <message>
        <source>Qt {0}</source>
        <translation>Qt {0}</translation>
    </message>
    <message>
        <source>Show the licences</source>
        <translation>Lizenzen zeigen</translation>
    </message>
    <message>
        <source>The icon of KAME</source>
        <translation>Das Symbol von KAME</translation>
    </message>
    <message>
        <source>Version {0}</source>
        <translation>Version {0}</translation>
    </message>
    <message>
        <source>from a wheel</source>
        <translation>aus einem Wheel</translation>
    </message>
    <message>
        <source>from its source</source>
        <translation>aus dem Quelltext</translation>
    </message>
    <message>
        <source>optional</source>
        <translation>optional</translation>
    </message>
</context>
<context>
    <name>BackendFields</name>
    <message>
        <source>Enter the server&apos;s address first.</source>
        <translation>Gib zuerst die Adresse des Servers ein.</translation>
    </message>
    <message>
        <source>M&amp;odel</source>
        <translation>&amp;Modell</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Sprachmodell</translation>
    </message>
    <message>
        <source>Refresh the list of models</source>
        <translation>Liste der Modelle neu laden</translation>
    </message>
    <message>
        <source>Ser&amp;ver</source>
        <translation>Se&amp;rver</translation>
    </message>
    <message>
        <source>Server</source>
        <translation>Server</translation>
    </message>
    <message>
        <source>The address of the server.</source>
        <translation>Die Adresse des Servers.</translation>
    </message>
    <message>
        <source>default</source>
        <translation>voreingestellt</translation>
    </message>
</context>
<context>
    <name>BackgroundTasks</name>
    <message>
        <source>This failed because of a bug in KAME ({0}). The log has the details.</source>
        <translation>Das ist wegen eines Programmfehlers in KAME fehlgeschlagen ({0}). Näheres steht im Protokoll.</translation>
    </message>
</context>
<context>
    <name>BoothStrip</name>
    <message>
        <source>Favourites</source>
        <translation>Favoriten</translation>
    </message>
    <message>
        <source>Mark models with a star in the list of models: they appear here.</source>
        <translation>Markiere Modelle in der Modellliste mit einem Stern: Sie erscheinen hier.</translation>
    </message>
    <message>
        <source>Move to the other screen</source>
        <translation>Auf den anderen Bildschirm</translation>
    </message>
</context>
<context>
    <name>Chip</name>
    <message>
        <source>{0} …</source>
        <translation>{0} …</translation>
    </message>
    <message>
        <source>{0}: {1}</source>
        <translation>{0}: {1}</translation>
    </message>
</context>
<context>
    <name>Choice</name>
    <message>
        <source>Automatic</source>
        <translation>Automatisch</translation>
    </message>
    <message>
        <source>Not found: {0}</source>
        <translation>Nicht gefunden: {0}</translation>
    </message>
    <message>
        <source>System default</source>
        <translation>Systemvorgabe</translation>
    </message>
</context>
<context>
    <name>CodeButton</name>
    <message>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Copy the code</source>
        <translation>Den Code kopieren</translation>
    </message>
    <message>
        <source>Copy the code in {0}</source>
        <translation>Den Code in {0} kopieren</translation>
    </message>
</context>
<context>
    <name>CommandPalette</name>
    <message>
        <source>Ask KAME: “{0}”</source>
        <translation>KAME fragen: „{0}“</translation>
    </message>
    <message>
        <source>Commands</source>
        <translation>Befehle</translation>
    </message>
    <message>
        <source>Commands found</source>
        <translation>Gefundene Befehle</translation>
    </message>
    <message>
        <source>Search commands, settings, conversations and models, or ask KAME</source>
        <translation>Befehle, Einstellungen, Gespräche und Modelle suchen oder KAME fragen</translation>
    </message>
    <message>
        <source>Search, or ask KAME</source>
        <translation>Suchen oder KAME fragen</translation>
    </message>
    <message>
        <source>on</source>
        <translation>an</translation>
    </message>
</context>
<context>
    <name>Commands</name>
    <message>
        <source>&amp;About KAME</source>
        <translation>Über &amp;KAME</translation>
    </message>
    <message>
        <source>&amp;Add files…</source>
        <translation>D&amp;ateien hinzufügen…</translation>
    </message>
    <message>
        <source>&amp;Booth: favourites as large buttons</source>
        <translation>Messes&amp;tand: Favoriten als große Knöpfe</translation>
    </message>
    <message>
        <source>&amp;Conversation</source>
        <translation>&amp;Gespräch</translation>
    </message>
    <message>
        <source>&amp;Copy</source>
        <translation>&amp;Kopieren</translation>
    </message>
    <message>
        <source>&amp;Demo…</source>
        <translation>&amp;Demo…</translation>
    </message>
    <message>
        <source>&amp;Earlier thoughts</source>
        <translation>Frühere &amp;Gedanken</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>&amp;Bearbeiten</translation>
    </message>
    <message>
        <source>&amp;Export this conversation…</source>
        <translation>Dieses Gespräch &amp;exportieren…</translation>
    </message>
    <message>
        <source>&amp;Find in the conversation…</source>
        <translation>Im Gespräch &amp;suchen…</translation>
    </message>
    <message>
        <source>&amp;Guide</source>
        <translation>&amp;Anleitung</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>&amp;Hilfe</translation>
    </message>
    <message>
        <source>&amp;Import a conversation…</source>
        <translation>Gespräch &amp;importieren…</translation>
    </message>
    <message>
        <source>&amp;Keep the sound of new conversations</source>
        <translation>Ton neuer Gespräche au&amp;fnehmen</translation>
    </message>
    <message>
        <source>&amp;Latency</source>
        <translation>&amp;Latenz</translation>
    </message>
    <message>
        <source>&amp;Log…</source>
        <translation>&amp;Protokoll…</translation>
    </message>
    <message>
        <source>&amp;Mini window</source>
        <translation>&amp;Minifenster</translation>
    </message>
    <message>
        <source>&amp;Model</source>
        <translation>&amp;Sprachmodell</translation>
    </message>
    <message>
        <source>&amp;Mute the microphone</source>
        <translation>&amp;Mikrofon stummschalten</translation>
    </message>
    <message>
        <source>&amp;New conversation</source>
        <translation>&amp;Neues Gespräch</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>&amp;Beenden</translation>
    </message>
    <message>
        <source>&amp;Settings…</source>
        <translation>&amp;Einstellungen…</translation>
    </message>
    <message>
        <source>&amp;Tool servers…</source>
        <translation>Werkzeugser&amp;ver…</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>&amp;Ansicht</translation>
    </message>
    <message>
        <source>Bring back what was deleted</source>
        <translation>Gelöschtes zurückholen</translation>
    </message>
    <message>
        <source>Bring back what you sent before</source>
        <translation>Zuletzt Gesendetes zurückholen</translation>
    </message>
    <message>
        <source>C&amp;hoose a model…</source>
        <translation>Modell &amp;wählen…</translation>
    </message>
    <message>
        <source>C&amp;ommands…</source>
        <translation>&amp;Befehle…</translation>
    </message>
    <message>
        <source>Close a list or a message</source>
        <translation>Liste oder Meldung schließen</translation>
    </message>
    <message>
        <source>Co&amp;mpare…</source>
        <translation>Ver&amp;gleichen…</translation>
    </message>
    <message>
        <source>De&amp;lete this conversation</source>
        <translation>Dieses Gespräch &amp;löschen</translation>
    </message>
    <message>
        <source>Delete it</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>En&amp;d conversation</source>
        <translation>&amp;Gespräch beenden</translation>
    </message>
    <message>
        <source>Go to the item before or after</source>
        <translation>Zum Eintrag davor oder danach</translation>
    </message>
    <message>
        <source>In booth mode</source>
        <translation>Am Messestand</translation>
    </message>
    <message>
        <source>In the list of conversations</source>
        <translation>In der Gesprächsliste</translation>
    </message>
    <message>
        <source>In the list of models</source>
        <translation>In der Modellliste</translation>
    </message>
    <message>
        <source>In the timeline</source>
        <translation>In der Zeitleiste</translation>
    </message>
    <message>
        <source>Ke&amp;ys</source>
        <translation>&amp;Tasten</translation>
    </message>
    <message>
        <source>Make it a favourite, or no longer</source>
        <translation>Zum Favoriten machen, oder nicht mehr</translation>
    </message>
    <message>
        <source>Menus</source>
        <translation>Menüs</translation>
    </message>
    <message>
        <source>Models and s&amp;ervers…</source>
        <translation>Mod&amp;elle und Server …</translation>
    </message>
    <message>
        <source>Open the conversation</source>
        <translation>Gespräch öffnen</translation>
    </message>
    <message>
        <source>Pause it, or follow the conversation again</source>
        <translation>Anhalten, oder dem Gespräch wieder folgen</translation>
    </message>
    <message>
        <source>Pin it, or no longer</source>
        <translation>Anheften, oder nicht mehr</translation>
    </message>
    <message>
        <source>Rename it</source>
        <translation>Umbenennen</translation>
    </message>
    <message>
        <source>S&amp;ound…</source>
        <translation>&amp;Ton…</translation>
    </message>
    <message>
        <source>S&amp;witch to the comparison model</source>
        <translation>&amp;Zum Vergleichsmodell wechseln</translation>
    </message>
    <message>
        <source>Send the message</source>
        <translation>Nachricht senden</translation>
    </message>
    <message>
        <source>Show these keys, while you are not typing</source>
        <translation>Diese Tasten zeigen, wenn du gerade nicht tippst</translation>
    </message>
    <message>
        <source>St&amp;yle and tools…</source>
        <translation>Stil und &amp;Werkzeuge…</translation>
    </message>
    <message>
        <source>Start a new line</source>
        <translation>Neue Zeile beginnen</translation>
    </message>
    <message>
        <source>Sto&amp;p speaking</source>
        <translation>Aufhören zu s&amp;prechen</translation>
    </message>
    <message>
        <source>Typing</source>
        <translation>Tippen</translation>
    </message>
    <message>
        <source>Use a favourite, also outside the list</source>
        <translation>Favoriten verwenden, auch außerhalb der Liste</translation>
    </message>
    <message>
        <source>Use a favourite, while you are not typing</source>
        <translation>Favoriten verwenden, wenn du nicht tippst</translation>
    </message>
    <message>
        <source>Use the model</source>
        <translation>Modell verwenden</translation>
    </message>
    <message>
        <source>Zoom in or out</source>
        <translation>Vergrößern oder verkleinern</translation>
    </message>
    <message>
        <source>attach, document, upload, PDF</source>
        <translation>anhängen, Dokument, hochladen, PDF</translation>
    </message>
    <message>
        <source>demo, swap, switch, fair, show</source>
        <translation>Vorführung, wechseln, tauschen, Messe, zeigen</translation>
    </message>
    <message>
        <source>devices, microphone, loudspeaker, echo</source>
        <translation>Geräte, Mikrofon, Lautsprecher, Echo</translation>
    </message>
    <message>
        <source>download, delete, key, ollama, connect, address</source>
        <translation>herunterladen, löschen, Schlüssel, Ollama, verbinden, Adresse</translation>
    </message>
    <message>
        <source>errors, report, diagnostics</source>
        <translation>Fehler, Bericht, Diagnose</translation>
    </message>
    <message>
        <source>exit, close</source>
        <translation>verlassen, schließen</translation>
    </message>
    <message>
        <source>hand over, swap</source>
        <translation>übergeben, tauschen</translation>
    </message>
    <message>
        <source>help, manual, documentation</source>
        <translation>Hilfe, Handbuch, Dokumentation</translation>
    </message>
    <message>
        <source>history, sidebar, chats</source>
        <translation>Verlauf, Seitenleiste, Chats</translation>
    </message>
    <message>
        <source>interrupt, be quiet, silence</source>
        <translation>unterbrechen, still sein, Ruhe</translation>
    </message>
    <message>
        <source>mcp, plug-ins, connectors</source>
        <translation>MCP, Plug-ins, Konnektoren</translation>
    </message>
    <message>
        <source>open, load</source>
        <translation>öffnen, laden</translation>
    </message>
    <message>
        <source>options, preferences, reset</source>
        <translation>Optionen, Vorlieben, zurücksetzen</translation>
    </message>
    <message>
        <source>palette</source>
        <translation>Palette</translation>
    </message>
    <message>
        <source>persona, prompt, instructions, limit</source>
        <translation>Rolle, Prompt, Anweisungen, Grenze</translation>
    </message>
    <message>
        <source>record</source>
        <translation>aufnehmen</translation>
    </message>
    <message>
        <source>remove, erase, forget</source>
        <translation>entfernen, vergessen</translation>
    </message>
    <message>
        <source>reset, start over, clear</source>
        <translation>zurücksetzen, von vorn, leeren</translation>
    </message>
    <message>
        <source>revisions, oracle</source>
        <translation>Überarbeitungen, Orakel</translation>
    </message>
    <message>
        <source>save, share, subtitles</source>
        <translation>speichern, teilen, Untertitel</translation>
    </message>
    <message>
        <source>search</source>
        <translation>suchen</translation>
    </message>
    <message>
        <source>second model, side by side</source>
        <translation>zweites Modell, nebeneinander</translation>
    </message>
    <message>
        <source>shortcuts, keyboard</source>
        <translation>Tastenkürzel, Tastatur</translation>
    </message>
    <message>
        <source>show, booth</source>
        <translation>zeigen, Messestand</translation>
    </message>
    <message>
        <source>silence, deaf</source>
        <translation>stumm, taub</translation>
    </message>
    <message>
        <source>slow, delay, response time, speed</source>
        <translation>langsam, Verzögerung, Antwortzeit, Geschwindigkeit</translation>
    </message>
    <message>
        <source>small, compact, always on top</source>
        <translation>klein, kompakt, immer im Vordergrund</translation>
    </message>
    <message>
        <source>stop, hang up, close the microphone</source>
        <translation>stopp, auflegen, Mikrofon schließen</translation>
    </message>
    <message>
        <source>swap, switch, change, another</source>
        <translation>tauschen, wechseln, ändern, anderes</translation>
    </message>
    <message>
        <source>thoughts, answers</source>
        <translation>Gedanken, Antworten</translation>
    </message>
    <message>
        <source>timeline, requests, why</source>
        <translation>Zeitleiste, Anfragen, warum</translation>
    </message>
    <message>
        <source>version, licence</source>
        <translation>Version, Lizenz</translation>
    </message>
</context>
<context>
    <name>Composer</name>
    <message>
        <source>Add files</source>
        <translation>Dateien hinzufügen</translation>
    </message>
    <message>
        <source>Drop files to add them to the conversation</source>
        <translation>Dateien hier ablegen, um sie dem Gespräch hinzuzufügen</translation>
    </message>
    <message>
        <source>Editing: what you send replaces the question and what followed. Both versions are kept.</source>
        <translation>Bearbeiten: Was du sendest, ersetzt die Frage und alles danach. Beide Fassungen bleiben erhalten.</translation>
    </message>
    <message>
        <source>Enter</source>
        <translation>Eingabe</translation>
    </message>
    <message>
        <source>Esc</source>
        <translation>Esc</translation>
    </message>
    <message>
        <source>Keep the question as it is</source>
        <translation>Frage lassen, wie sie ist</translation>
    </message>
    <message>
        <source>Send what you typed</source>
        <translation>Getipptes senden</translation>
    </message>
    <message>
        <source>Sent once KAME is ready</source>
        <translation>Wird gesendet, sobald KAME bereit ist</translation>
    </message>
    <message>
        <source>Type a message</source>
        <translation>Nachricht tippen</translation>
    </message>
    <message>
        <source>Type a message: the conversation continues</source>
        <translation>Nachricht tippen: Das Gespräch geht weiter</translation>
    </message>
    <message>
        <source>Type instead of talking</source>
        <translation>Tippen statt sprechen</translation>
    </message>
</context>
<context>
    <name>ComposerField</name>
    <message>
        <source>Only the first {0} letters were pasted. Add a long text as a document.</source>
        <translation>Nur die ersten {0} Zeichen wurden eingefügt. Füge einen langen Text als Dokument hinzu.</translation>
    </message>
</context>
<context>
    <name>ConsentCard</name>
    <message>
        <source>&amp;Don&apos;t allow</source>
        <translation>&amp;Nicht erlauben</translation>
    </message>
    <message>
        <source>Al&amp;ways allow this</source>
        <translation>&amp;Immer erlauben</translation>
    </message>
    <message>
        <source>Allo&amp;w</source>
        <translation>&amp;Erlauben</translation>
    </message>
    <message>
        <source>Allow the call</source>
        <translation>Den Aufruf erlauben</translation>
    </message>
    <message>
        <source>Always allow this tool</source>
        <translation>Dieses Werkzeug immer erlauben</translation>
    </message>
    <message>
        <source>Don&apos;t allow the call</source>
        <translation>Den Aufruf nicht erlauben</translation>
    </message>
    <message>
        <source>Question for your consent</source>
        <translation>Frage nach deiner Zustimmung</translation>
    </message>
    <message>
        <source>Shall this be done? {0}</source>
        <translation>Soll das geschehen? {0}</translation>
    </message>
    <message>
        <source>This may change something.</source>
        <translation>Das kann etwas verändern.</translation>
    </message>
    <message>
        <source>This may send what is shown here to somebody else.</source>
        <translation>Das kann an andere senden, was hier steht.</translation>
    </message>
    <message>
        <source>What the tool would be given</source>
        <translation>Was das Werkzeug bekäme</translation>
    </message>
    <message>
        <source>You are asked all the same once the model has read a document, a file or what a tool returned.</source>
        <translation>Du wirst trotzdem gefragt, sobald das Modell ein Dokument, eine Datei oder die Antwort eines Werkzeugs gelesen hat.</translation>
    </message>
    <message>
        <source>{0} ({1})</source>
        <translation>{0} ({1})</translation>
    </message>
</context>
<context>
    <name>ConsentFields</name>
    <message>
        <source>This tool is always allowed</source>
        <translation>Dieses Werkzeug ist immer erlaubt</translation>
    </message>
    <message>
        <source>Tool</source>
        <translation>Werkzeug</translation>
    </message>
    <message>
        <source>What its tools may do</source>
        <translation>Was seine Werkzeuge dürfen</translation>
    </message>
    <message>
        <source>What this tool may do</source>
        <translation>Was dieses Werkzeug darf</translation>
    </message>
    <message>
        <source>You are asked before a tool sends or changes something.</source>
        <translation>Bevor ein Werkzeug etwas sendet oder verändert, wirst du gefragt.</translation>
    </message>
    <message>
        <source>a&amp;lways allowed</source>
        <translation>immer er&amp;laubt</translation>
    </message>
    <message>
        <source>as said above</source>
        <translation>wie oben</translation>
    </message>
    <message>
        <source>may change something</source>
        <translation>dürfen etwas verändern</translation>
    </message>
    <message>
        <source>may send what they get elsewhere</source>
        <translation>dürfen weitergeben, was sie bekommen</translation>
    </message>
    <message>
        <source>only read on this machine</source>
        <translation>lesen nur auf diesem Rechner</translation>
    </message>
</context>
<context>
    <name>ConversationController</name>
    <message>
        <source>Open it</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>What was said here is not kept: when you open another conversation, it is gone.</source>
        <translation>Was hier gesagt wurde, wird nicht aufbewahrt: Wenn du ein anderes Gespräch öffnest, ist es weg.</translation>
    </message>
</context>
<context>
    <name>ConversationItems</name>
    <message>
        <source>From its first words</source>
        <translation>Aus den ersten Worten</translation>
    </message>
    <message>
        <source>Title of the conversation</source>
        <translation>Titel des Gesprächs</translation>
    </message>
</context>
<context>
    <name>ConversationListController</name>
    <message>
        <source>Conversations are not kept here.</source>
        <translation>Gespräche werden hier nicht aufbewahrt.</translation>
    </message>
</context>
<context>
    <name>ConversationsPane</name>
    <message>
        <source>&amp;Delete all…</source>
        <translation>Alle &amp;löschen…</translation>
    </message>
    <message>
        <source>&amp;Duplicate with another model…</source>
        <translation>Mit anderem Modell &amp;duplizieren…</translation>
    </message>
    <message>
        <source>&amp;Export…</source>
        <translation>&amp;Exportieren…</translation>
    </message>
    <message>
        <source>&amp;Import…</source>
        <translation>&amp;Importieren…</translation>
    </message>
    <message>
        <source>&amp;New conversation</source>
        <translation>&amp;Neues Gespräch</translation>
    </message>
    <message>
        <source>&amp;Open</source>
        <translation>Ö&amp;ffnen</translation>
    </message>
    <message>
        <source>&amp;Pin</source>
        <translation>An&amp;heften</translation>
    </message>
    <message>
        <source>&amp;Rename</source>
        <translation>&amp;Umbenennen</translation>
    </message>
    <message>
        <source>Conversations</source>
        <translation>Gespräche</translation>
    </message>
    <message>
        <source>De&amp;lete</source>
        <translation>&amp;Löschen</translation>
    </message>
    <message>
        <source>Delete all</source>
        <translation>Alle löschen</translation>
    </message>
    <message>
        <source>Delete all conversations, and the sound that was kept with them?</source>
        <translation>Alle Gespräche löschen, samt dem Ton, der mit ihnen aufbewahrt wurde?</translation>
    </message>
    <message>
        <source>Import, export, delete all</source>
        <translation>Importieren, exportieren, alle löschen</translation>
    </message>
    <message>
        <source>Keep them</source>
        <translation>Behalten</translation>
    </message>
    <message>
        <source>More about conversations</source>
        <translation>Mehr zu Gesprächen</translation>
    </message>
    <message>
        <source>New conversation</source>
        <translation>Neues Gespräch</translation>
    </message>
    <message>
        <source>Nothing found for “{0}”.</source>
        <translation>Nichts gefunden zu „{0}“.</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>Search conversations</source>
        <translation>Gespräche durchsuchen</translation>
    </message>
    <message>
        <source>Start a new conversation</source>
        <translation>Ein neues Gespräch beginnen</translation>
    </message>
    <message>
        <source>Un&amp;pin</source>
        <translation>Nicht mehr an&amp;heften</translation>
    </message>
    <message>
        <source>Your conversations are kept here.</source>
        <translation>Hier werden deine Gespräche aufbewahrt.</translation>
    </message>
</context>
<context>
    <name>DemoCourse</name>
    <message>
        <source>Live: {0} of {1} …</source>
        <translation>Live: {0} von {1} …</translation>
    </message>
    <message>
        <source>Looking for models …</source>
        <translation>Sprachmodelle werden gesucht …</translation>
    </message>
    <message>
        <source>One question. One model. Who speaks first?</source>
        <translation>Eine Frage. Ein Modell. Wer spricht zuerst?</translation>
    </message>
    <message>
        <source>Press Enter to start</source>
        <translation>Enter drücken, um zu beginnen</translation>
    </message>
    <message>
        <source>Recorded at {2} on this machine</source>
        <translation>Um {2} auf diesem Rechner aufgenommen</translation>
    </message>
    <message>
        <source>Recorded on {0} ({1})</source>
        <translation>Aufgenommen am {0} ({1})</translation>
    </message>
    <message>
        <source>There is no model to answer. Get one in “Models and servers”.</source>
        <translation>Es gibt kein Modell, das antworten kann. Hol dir eins unter „Modelle und Server“.</translation>
    </message>
    <message>
        <source>{0}, one side after the other. Same model, voice and speech recognition on both.</source>
        <translation>{0}, eine Seite nach der anderen. Modell, Stimme und Spracherkennung sind auf beiden gleich.</translation>
    </message>
</context>
<context>
    <name>DemoScreen</name>
    <message>
        <source>Again (Enter)</source>
        <translation>Noch einmal (Eingabe)</translation>
    </message>
    <message>
        <source>Both answered about as soon</source>
        <translation>Beide antworteten etwa gleich bald</translation>
    </message>
    <message>
        <source>Cascade</source>
        <translation>Kaskade</translation>
    </message>
    <message>
        <source>Cascade: {0} s sooner</source>
        <translation>Kaskade: {0} s früher</translation>
    </message>
    <message>
        <source>From the end of the question until the answer was heard, median</source>
        <translation>Vom Ende der Frage, bis die Antwort zu hören war, Median</translation>
    </message>
    <message>
        <source>Full screen or window (F11)</source>
        <translation>Ganzer Bildschirm oder Fenster (F11)</translation>
    </message>
    <message>
        <source>Hold to talk (Space)</source>
        <translation>Zum Sprechen halten (Leertaste)</translation>
    </message>
    <message>
        <source>Images (*.png)</source>
        <translation>Bilder (*.png)</translation>
    </message>
    <message>
        <source>KAME demo</source>
        <translation>KAME-Vorführung</translation>
    </message>
    <message>
        <source>Leave (Esc)</source>
        <translation>Verlassen (Esc)</translation>
    </message>
    <message>
        <source>Next (Enter)</source>
        <translation>Weiter (Eingabe)</translation>
    </message>
    <message>
        <source>No question was answered by both</source>
        <translation>Keine Frage wurde von beiden beantwortet</translation>
    </message>
    <message>
        <source>Save as picture</source>
        <translation>Als Bild speichern</translation>
    </message>
    <message>
        <source>Save as picture (S)</source>
        <translation>Als Bild speichern (S)</translation>
    </message>
    <message>
        <source>Start (Enter)</source>
        <translation>Start (Eingabe)</translation>
    </message>
    <message>
        <source>Tandem</source>
        <translation>Tandem</translation>
    </message>
    <message>
        <source>Tandem: answered before the question ended</source>
        <translation>Tandem: antwortete, bevor die Frage zu Ende war</translation>
    </message>
    <message>
        <source>Tandem: {0} s sooner</source>
        <translation>Tandem: {0} s früher</translation>
    </message>
    <message>
        <source>The picture could not be saved. Choose another folder.</source>
        <translation>Das Bild konnte nicht gespeichert werden. Wähle einen anderen Ordner.</translation>
    </message>
    <message>
        <source>kame-demo.png</source>
        <translation>kame-demo.png</translation>
    </message>
</context>
<context>
    <name>DevicePicker</name>
    <message>
        <source>Not found: {0}</source>
        <translation>Nicht gefunden: {0}</translation>
    </message>
    <message>
        <source>System default</source>
        <translation>Systemvorgabe</translation>
    </message>
</context>
<context>
    <name>DevicesPopover</name>
    <message>
        <source>&amp;End conversation</source>
        <translation>Gespräch &amp;beenden</translation>
    </message>
    <message>
        <source>&amp;Loudspeaker</source>
        <translation>&amp;Lautsprecher</translation>
    </message>
    <message>
        <source>&amp;Sound…</source>
        <translation>&amp;Ton…</translation>
    </message>
    <message>
        <source>Can be changed during the conversation.</source>
        <translation>Lässt sich mitten im Gespräch wechseln.</translation>
    </message>
    <message>
        <source>End conversation</source>
        <translation>Gespräch beenden</translation>
    </message>
    <message>
        <source>Ends this conversation and closes the microphone.</source>
        <translation>Beendet dieses Gespräch und schließt das Mikrofon.</translation>
    </message>
    <message>
        <source>Loudspeaker</source>
        <translation>Lautsprecher</translation>
    </message>
    <message>
        <source>Loudspeaker level, dB</source>
        <translation>Pegel des Lautsprechers, dB</translation>
    </message>
    <message>
        <source>M&amp;icrophone</source>
        <translation>Mi&amp;krofon</translation>
    </message>
    <message>
        <source>Microphone</source>
        <translation>Mikrofon</translation>
    </message>
    <message>
        <source>Microphone level, dB</source>
        <translation>Pegel des Mikrofons, dB</translation>
    </message>
    <message>
        <source>Sound: devices, tests, echo, talk button</source>
        <translation>Ton: Geräte, Tests, Echo, Sprechtaste</translation>
    </message>
</context>
<context>
    <name>Dialogs</name>
    <message>
        <source>Compare</source>
        <translation>Vergleichen</translation>
    </message>
    <message>
        <source>Copies the conversation. The copy continues with this model; the original stays as it is.</source>
        <translation>Kopiert das Gespräch. Die Kopie geht mit diesem Modell weiter; das Original bleibt, wie es ist.</translation>
    </message>
    <message>
        <source>Duplicate with another model</source>
        <translation>Mit anderem Modell duplizieren</translation>
    </message>
    <message>
        <source>The comparison model answers every question, too. Its answers are shown, but not spoken until you switch to it. It is billed like the other one.</source>
        <translation>Das Vergleichsmodell beantwortet jede Frage mit. Seine Antworten werden gezeigt, aber erst gesprochen, wenn du zu ihm wechselst. Es wird abgerechnet wie das andere.</translation>
    </message>
</context>
<context>
    <name>DocumentChip</name>
    <message>
        <source>1 word</source>
        <translation>1 Wort</translation>
    </message>
    <message>
        <source>Remove {0}</source>
        <translation>{0} entfernen</translation>
    </message>
    <message>
        <source>The model gets all of it.</source>
        <translation>Das Modell bekommt alles davon.</translation>
    </message>
    <message>
        <source>The model gets only the first {0} of {1} words: it can&apos;t read more at once.</source>
        <translation>Das Modell bekommt nur die ersten {0} von {1} Wörtern: Mehr kann es nicht auf einmal lesen.</translation>
    </message>
    <message>
        <source>{0} words</source>
        <translation>{0} Wörter</translation>
    </message>
</context>
<context>
    <name>DocumentChips</name>
    <message>
        <source>Documents of the conversation</source>
        <translation>Dokumente des Gesprächs</translation>
    </message>
</context>
<context>
    <name>DocumentsController</name>
    <message>
        <source>Add files to the conversation</source>
        <translation>Dateien zum Gespräch hinzufügen</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Texts ({0})</source>
        <translation>Texte ({0})</translation>
    </message>
    <message>
        <source>“{0}” was not added: a conversation has {1} documents at most. Remove one first.</source>
        <translation>„{0}“ wurde nicht hinzugefügt: Ein Gespräch hat höchstens {1} Dokumente. Entferne erst eins.</translation>
    </message>
</context>
<context>
    <name>Editor</name>
    <message>
        <source>empty</source>
        <translation>leer</translation>
    </message>
</context>
<context>
    <name>FetchController</name>
    <message>
        <source>This failed because of a bug in KAME ({0}). The log has the details.</source>
        <translation>Das ist wegen eines Programmfehlers in KAME fehlgeschlagen ({0}). Näheres steht im Protokoll.</translation>
    </message>
</context>
<context>
    <name>FindBar</name>
    <message>
        <source>Close the search</source>
        <translation>Suche schließen</translation>
    </message>
    <message>
        <source>Close the search (Esc)</source>
        <translation>Suche schließen (Esc)</translation>
    </message>
    <message>
        <source>Find in this conversation</source>
        <translation>In diesem Gespräch suchen</translation>
    </message>
    <message>
        <source>How often it was found</source>
        <translation>Wie oft es gefunden wurde</translation>
    </message>
    <message>
        <source>Next (Enter)</source>
        <translation>Weiter (Eingabe)</translation>
    </message>
    <message>
        <source>Previous (Shift+Enter)</source>
        <translation>Zurück (Umschalt+Eingabe)</translation>
    </message>
    <message>
        <source>not found</source>
        <translation>nicht gefunden</translation>
    </message>
    <message>
        <source>{0} of {1}</source>
        <translation>{0} von {1}</translation>
    </message>
</context>
<context>
    <name>Folder</name>
    <message>
        <source>Choose a folder: {0}</source>
        <translation>Ordner wählen: {0}</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>Wählen…</translation>
    </message>
</context>
<context>
    <name>FolderMenu</name>
    <message>
        <source>&amp;New folder…</source>
        <translation>&amp;Neuer Ordner …</translation>
    </message>
    <message>
        <source>&amp;Rename…</source>
        <translation>&amp;Umbenennen …</translation>
    </message>
    <message>
        <source>Mo&amp;ve to folder</source>
        <translation>In Ordner &amp;verschieben</translation>
    </message>
    <message>
        <source>Move &amp;out of the folder</source>
        <translation>Aus dem &amp;Ordner nehmen</translation>
    </message>
    <message>
        <source>New folder</source>
        <translation>Neuer Ordner</translation>
    </message>
    <message>
        <source>Remove &amp;folder</source>
        <translation>Ordner &amp;entfernen</translation>
    </message>
    <message>
        <source>Removes the folder; its conversations stay.</source>
        <translation>Entfernt den Ordner; seine Gespräche bleiben.</translation>
    </message>
    <message>
        <source>Rename folder</source>
        <translation>Ordner umbenennen</translation>
    </message>
    <message>
        <source>The folder&apos;s name:</source>
        <translation>Name des Ordners:</translation>
    </message>
</context>
<context>
    <name>Folders</name>
    <message>
        <source>Add a folder: {0}</source>
        <translation>Ordner hinzufügen: {0}</translation>
    </message>
    <message>
        <source>Add…</source>
        <translation>Hinzufügen…</translation>
    </message>
</context>
<context>
    <name>FrontEndBar</name>
    <message>
        <source>Download the weights</source>
        <translation>Die Gewichte herunterladen</translation>
    </message>
    <message>
        <source>Download…</source>
        <translation>Herunterladen…</translation>
    </message>
    <message>
        <source>How much of the conversation the voice remembers. When it is nearly full, it starts again at a pause with the newest part.</source>
        <translation>Wie viel vom Gespräch die Stimme noch weiß. Ist es fast voll, fängt sie in einer Pause mit dem neuesten Teil neu an.</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Gedächtnis</translation>
    </message>
    <message>
        <source>Memory of the conversation</source>
        <translation>Gedächtnis für das Gespräch</translation>
    </message>
    <message>
        <source>empty</source>
        <translation>leer</translation>
    </message>
    <message>
        <source>{0} of {1}</source>
        <translation>{0} von {1}</translation>
    </message>
</context>
<context>
    <name>Grabber</name>
    <message>
        <source>Your keyboard&apos;s layout has no “{0}”, so it can&apos;t be a hotkey. Choose another.</source>
        <translation>Deine Tastaturbelegung hat kein „{0}“, deshalb eignet es sich nicht als Tastenkürzel. Wähle ein anderes.</translation>
    </message>
    <message>
        <source>“{0}” is another program&apos;s hotkey already, so it can&apos;t be used. Choose another.</source>
        <translation>„{0}“ ist schon das Tastenkürzel eines anderen Programms und deshalb nicht verwendbar. Wähle ein anderes.</translation>
    </message>
    <message>
        <source>“{0}” is the same as “{1}” on your keyboard, which has another use here already. Choose other keys.</source>
        <translation>„{0}“ ist auf deiner Tastatur dasselbe wie „{1}“, das hier schon eine andere Aufgabe hat. Wähle andere Tasten.</translation>
    </message>
</context>
<context>
    <name>GraphicsStrip</name>
    <message>
        <source>&amp;Download</source>
        <translation>Herunter&amp;laden</translation>
    </message>
    <message>
        <source>&amp;Restart KAME</source>
        <translation>&amp;KAME neu starten</translation>
    </message>
    <message>
        <source>About {0} GB have to be downloaded. They take about {1} GB on the disk; {2} GB are free.</source>
        <translation>Etwa {0} GB müssen heruntergeladen werden. Sie belegen etwa {1} GB auf der Festplatte; {2} GB sind frei.</translation>
    </message>
    <message>
        <source>Checking the graphics card …</source>
        <translation>Die Grafikkarte wird geprüft …</translation>
    </message>
    <message>
        <source>Download what the graphics card needs</source>
        <translation>Herunterladen, was die Grafikkarte braucht</translation>
    </message>
    <message>
        <source>Installation of what the graphics card needs</source>
        <translation>Installation dessen, was die Grafikkarte braucht</translation>
    </message>
    <message>
        <source>KAME keeps using the built-in voice.</source>
        <translation>KAME bleibt bei der eingebauten Stimme.</translation>
    </message>
    <message>
        <source>Meanwhile KAME uses the built-in voice.</source>
        <translation>Solange spricht KAME mit der eingebauten Stimme.</translation>
    </message>
    <message>
        <source>Restart KAME for the graphics card</source>
        <translation>KAME für die Grafikkarte neu starten</translation>
    </message>
    <message>
        <source>Restart KAME to use it.</source>
        <translation>Starte KAME neu, um es zu verwenden.</translation>
    </message>
    <message>
        <source>S&amp;top</source>
        <translation>S&amp;topp</translation>
    </message>
    <message>
        <source>Several GB have to be downloaded.</source>
        <translation>Mehrere GB müssen heruntergeladen werden.</translation>
    </message>
    <message>
        <source>Stop the installation</source>
        <translation>Die Installation anhalten</translation>
    </message>
    <message>
        <source>Stopping; what has been downloaded is kept …</source>
        <translation>Wird angehalten; was heruntergeladen ist, bleibt …</translation>
    </message>
    <message>
        <source>Type in a terminal: {0}</source>
        <translation>Gib in einem Terminal ein: {0}</translation>
    </message>
    <message>
        <source>Until then KAME uses the built-in voice.</source>
        <translation>Bis dahin spricht KAME mit der eingebauten Stimme.</translation>
    </message>
    <message>
        <source>What the graphics card needs</source>
        <translation>Was die Grafikkarte braucht</translation>
    </message>
    <message>
        <source>What the graphics card needs is installed.</source>
        <translation>Was die Grafikkarte braucht, ist installiert.</translation>
    </message>
    <message>
        <source>{0} GB have to be downloaded. They take {1} GB on the disk; {2} GB are free.</source>
        <translation>{0} GB müssen heruntergeladen werden. Sie belegen {1} GB auf der Festplatte; {2} GB sind frei.</translation>
    </message>
</context>
<context>
    <name>GuideDialog</name>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Contents</source>
        <translation>Inhalt</translation>
    </message>
    <message>
        <source>Guide</source>
        <translation>Anleitung</translation>
    </message>
</context>
<context>
    <name>HistoryController</name>
    <message>
        <source>Nothing has been said in this conversation that could be exported.</source>
        <translation>In diesem Gespräch wurde nichts gesagt, das sich exportieren ließe.</translation>
    </message>
    <message>
        <source>“{0}” is among your conversations now.</source>
        <translation>„{0}“ ist jetzt bei deinen Gesprächen.</translation>
    </message>
</context>
<context>
    <name>HistoryFiles</name>
    <message>
        <source>Conversation</source>
        <translation>Gespräch</translation>
    </message>
    <message>
        <source>Export a conversation</source>
        <translation>Gespräch exportieren</translation>
    </message>
    <message>
        <source>Exported conversations (*.json)</source>
        <translation>Exportierte Gespräche (*.json)</translation>
    </message>
    <message>
        <source>Import a conversation</source>
        <translation>Gespräch importieren</translation>
    </message>
    <message>
        <source>JSON, which can be imported (*.json)</source>
        <translation>JSON, das sich importieren lässt (*.json)</translation>
    </message>
    <message>
        <source>Markdown (*.md)</source>
        <translation>Markdown (*.md)</translation>
    </message>
    <message>
        <source>Sound (*.wav)</source>
        <translation>Ton (*.wav)</translation>
    </message>
    <message>
        <source>Subtitles (*.srt)</source>
        <translation>Untertitel (*.srt)</translation>
    </message>
    <message>
        <source>“{0}” is there already. Export under another name, or choose that file itself.</source>
        <translation>„{0}“ ist schon da. Exportiere unter einem anderen Namen oder wähle genau diese Datei.</translation>
    </message>
</context>
<context>
    <name>Hotkeys</name>
    <message>
        <source>“{0}” can&apos;t both talk and mute: it only talks. Choose another key to mute.</source>
        <translation>„{0}“ geht nicht zugleich fürs Sprechen und fürs Stummschalten: Es gilt nur fürs Sprechen. Wähle eine andere Taste zum Stummschalten.</translation>
    </message>
</context>
<context>
    <name>InspectorPane</name>
    <message>
        <source>Latency</source>
        <translation>Latenz</translation>
    </message>
    <message>
        <source>Parts of the inspector</source>
        <translation>Teile des Inspektors</translation>
    </message>
    <message>
        <source>Requests</source>
        <translation>Anfragen</translation>
    </message>
    <message>
        <source>Timeline</source>
        <translation>Zeitleiste</translation>
    </message>
</context>
<context>
    <name>Instance</name>
    <message>
        <source>KAME does not know this command. It knows {0}.</source>
        <translation>KAME kennt diesen Befehl nicht. Es kennt {0}.</translation>
    </message>
    <message>
        <source>KAME was busy for too long, so this was not done. Try again.</source>
        <translation>KAME war zu lange beschäftigt, deshalb ist das nicht geschehen. Versuch es noch einmal.</translation>
    </message>
</context>
<context>
    <name>KeyBox</name>
    <message>
        <source>&amp;Forget key</source>
        <translation>Schlüssel &amp;vergessen</translation>
    </message>
    <message>
        <source>&amp;Save key</source>
        <translation>Schlüssel &amp;speichern</translation>
    </message>
    <message>
        <source>API key</source>
        <translation>API-Schlüssel</translation>
    </message>
    <message>
        <source>Enter the address of the server first: a key belongs to its server.</source>
        <translation>Gib zuerst die Adresse des Servers ein: Ein Schlüssel gehört zu seinem Server.</translation>
    </message>
    <message>
        <source>Forget key</source>
        <translation>Schlüssel vergessen</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>Schlüssel</translation>
    </message>
    <message>
        <source>Save key</source>
        <translation>Schlüssel speichern</translation>
    </message>
    <message>
        <source>The key comes from the environment variable {0}, which takes precedence over a saved one.</source>
        <translation>Der Schlüssel kommt aus der Umgebungsvariablen {0}, die einem gespeicherten vorgeht.</translation>
    </message>
    <message>
        <source>The key comes from the environment, which takes precedence over a saved one.</source>
        <translation>Der Schlüssel kommt aus der Umgebung, die einem gespeicherten vorgeht.</translation>
    </message>
    <message>
        <source>The key is in the system&apos;s keyring.</source>
        <translation>Der Schlüssel liegt im Schlüsselbund des Systems.</translation>
    </message>
    <message>
        <source>The key is kept in memory until you close the window: there is no keyring here.</source>
        <translation>Der Schlüssel bleibt im Speicher, bis du das Fenster schließt: Hier gibt es keinen Schlüsselbund.</translation>
    </message>
    <message>
        <source>There is no key yet. Copy one from your account at the provider, and paste it here.</source>
        <translation>Es gibt noch keinen Schlüssel. Kopiere einen aus deinem Konto beim Anbieter und füge ihn hier ein.</translation>
    </message>
    <message>
        <source>There is no key; this one may not need any.</source>
        <translation>Es gibt keinen Schlüssel; vielleicht wird hier keiner gebraucht.</translation>
    </message>
    <message>
        <source>Where the key is</source>
        <translation>Wo der Schlüssel ist</translation>
    </message>
    <message>
        <source>paste a key</source>
        <translation>Schlüssel einfügen</translation>
    </message>
</context>
<context>
    <name>KeyField</name>
    <message>
        <source>Click here, or come here with Tab, and press the keys.</source>
        <translation>Klicke hier oder komm mit Tab hierher und drücke die Tasten.</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Keine</translation>
    </message>
    <message>
        <source>none: press keys here</source>
        <translation>keine: hier Tasten drücken</translation>
    </message>
    <message>
        <source>{0}: none</source>
        <translation>{0}: keine</translation>
    </message>
</context>
<context>
    <name>Keys</name>
    <message>
        <source>none</source>
        <translation>keine</translation>
    </message>
    <message>
        <source>“{0}” is used already. Press other keys.</source>
        <translation>„{0}“ ist schon vergeben. Drücke andere Tasten.</translation>
    </message>
</context>
<context>
    <name>LatencyBar</name>
    <message>
        <source>What was waited for</source>
        <translation>Worauf gewartet wurde</translation>
    </message>
    <message>
        <source>nothing was waited for</source>
        <translation>auf nichts wurde gewartet</translation>
    </message>
</context>
<context>
    <name>LatencyStrip</name>
    <message>
        <source>One bar for each answer. Click one, or use the arrow keys, to see its stages.</source>
        <translation>Ein Balken je Antwort. Klicke einen an oder nimm die Pfeiltasten, um seine Abschnitte zu sehen.</translation>
    </message>
    <message>
        <source>Response times of the latest answers</source>
        <translation>Antwortzeiten der letzten Antworten</translation>
    </message>
    <message>
        <source>slow</source>
        <translation>langsam</translation>
    </message>
    <message>
        <source>{0} of {1}: {2}</source>
        <translation>{0} von {1}: {2}</translation>
    </message>
</context>
<context>
    <name>LatencyView</name>
    <message>
        <source>Co&amp;py as text</source>
        <translation>Als Text &amp;kopieren</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
    <message>
        <source>Copy as text</source>
        <translation>Als Text kopieren</translation>
    </message>
    <message>
        <source>Cost</source>
        <translation>Kosten</translation>
    </message>
    <message>
        <source>Frames</source>
        <translation>Frames</translation>
    </message>
    <message>
        <source>How fast the answer came</source>
        <translation>Wie schnell die Antwort kam</translation>
    </message>
    <message>
        <source>Latency</source>
        <translation>Latenz</translation>
    </message>
    <message>
        <source>Latency of this conversation</source>
        <translation>Latenz dieses Gesprächs</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Gedächtnis</translation>
    </message>
    <message>
        <source>Memory of the conversation</source>
        <translation>Gedächtnis des Gesprächs</translation>
    </message>
    <message>
        <source>No answer yet</source>
        <translation>Noch keine Antwort</translation>
    </message>
    <message>
        <source>No answer yet. Say something, and you will see here where the time went.</source>
        <translation>Noch keine Antwort. Sag etwas, dann siehst du hier, wofür die Zeit verging.</translation>
    </message>
    <message>
        <source>The answer to turn {0}</source>
        <translation>Die Antwort auf Redebeitrag {0}</translation>
    </message>
    <message>
        <source>The last answer</source>
        <translation>Die letzte Antwort</translation>
    </message>
    <message>
        <source>The latest answers and their median</source>
        <translation>Die letzten Antworten und ihr Median</translation>
    </message>
    <message>
        <source>This conversation</source>
        <translation>Dieses Gespräch</translation>
    </message>
    <message>
        <source>Time budget of a frame</source>
        <translation>Zeitbudget eines Frames</translation>
    </message>
    <message>
        <source>Why was this slow?</source>
        <translation>Warum war das langsam?</translation>
    </message>
    <message>
        <source>{0} of {1} ms</source>
        <translation>{0} von {1} ms</translation>
    </message>
</context>
<context>
    <name>LatencyWords</name>
    <message>
        <source> (usually {0})</source>
        <translation> (sonst {0})</translation>
    </message>
    <message>
        <source>Another model failed, which took {0}. Then {1} was asked instead.</source>
        <translation>Ein anderes Modell ist ausgefallen, das hat {0} gekostet. Dann wurde {1} gefragt.</translation>
    </message>
    <message>
        <source>Another model had failed, so {1} was asked instead, and took {0} to its first words{2}.</source>
        <translation>Ein anderes Modell war ausgefallen, deshalb wurde {1} gefragt und brauchte {0} bis zu den ersten Worten{2}.</translation>
    </message>
    <message>
        <source>Detecting the end of your turn</source>
        <translation>Das Ende deines Beitrags erkennen</translation>
    </message>
    <message>
        <source>From the model&apos;s first words, or the end of your turn if later, until the first sound.</source>
        <translation>Von den ersten Worten des Modells, oder vom Ende deines Beitrags, falls das später war, bis zum ersten Ton.</translation>
    </message>
    <message>
        <source>From the request that was answered until its first words. It may run while you talk.</source>
        <translation>Von der Anfrage, die beantwortet wurde, bis zu den ersten Worten. Sie kann laufen, während du sprichst.</translation>
    </message>
    <message>
        <source>From your last sound until KAME was sure that your turn was over.</source>
        <translation>Von deinem letzten Ton, bis KAME sicher war, dass dein Redebeitrag zu Ende ist.</translation>
    </message>
    <message>
        <source>From your last sound until your words were final.</source>
        <translation>Von deinem letzten Ton, bis deine Worte feststanden.</translation>
    </message>
    <message>
        <source>If this keeps happening, choose a faster model.</source>
        <translation>Wenn das öfter vorkommt, wähle ein schnelleres Modell.</translation>
    </message>
    <message>
        <source>In between</source>
        <translation>Dazwischen</translation>
    </message>
    <message>
        <source>It started {0} before you finished.</source>
        <translation>Sie begann {0}, bevor du fertig warst.</translation>
    </message>
    <message>
        <source>It took KAME {0} to notice that you had finished{2}.</source>
        <translation>KAME hat erst nach {0} bemerkt, dass du fertig warst{2}.</translation>
    </message>
    <message>
        <source>It was not slow. The longest part was “{0}”, {1}.</source>
        <translation>Es war nicht langsam. Der längste Teil war „{0}“, {1}.</translation>
    </message>
    <message>
        <source>It was not slow: there was nothing to wait for.</source>
        <translation>Es war nicht langsam: Es gab nichts, worauf zu warten war.</translation>
    </message>
    <message>
        <source>KAME processes sound in frames of {0} ms; there were none yet.</source>
        <translation>KAME verarbeitet Ton in Frames von {0} ms; noch gab es keine.</translation>
    </message>
    <message>
        <source>KAME waited {0}{2} because it wasn&apos;t clear whether you had finished.</source>
        <translation>KAME hat {0}{2} gewartet, weil nicht klar war, ob du fertig warst.</translation>
    </message>
    <message>
        <source>KAME waited {0}{2} because your sentence sounded unfinished.</source>
        <translation>KAME hat {0}{2} gewartet, weil dein Satz unfertig klang.</translation>
    </message>
    <message>
        <source>Median {0} ms, 99 % within {1} ms. Late: {2}, dropped: {3}, gaps in the sound: {4}.</source>
        <translation>Median {0} ms, 99 % binnen {1} ms. Zu spät: {2}, ausgelassen: {3}, Aussetzer im Ton: {4}.</translation>
    </message>
    <message>
        <source>One stage waited {0} for another. If this keeps happening, close other programs.</source>
        <translation>Ein Abschnitt wartete {0} auf einen anderen. Wenn das öfter vorkommt, schließe andere Programme.</translation>
    </message>
    <message>
        <source>The model answered while you were speaking, so it added no delay.</source>
        <translation>Das Modell hat geantwortet, während du sprachst, und keine Zeit gekostet.</translation>
    </message>
    <message>
        <source>The model&apos;s first words</source>
        <translation>Die ersten Worte des Modells</translation>
    </message>
    <message>
        <source>The tool “{1}” ran for {0} before the model could answer.</source>
        <translation>Das Werkzeug „{1}“ arbeitete {0}, bevor das Modell antworten konnte.</translation>
    </message>
    <message>
        <source>The voice took {0} from the model&apos;s first words to its first sound{2}.</source>
        <translation>Die Stimme brauchte {0} von den ersten Worten des Modells bis zu ihrem ersten Ton{2}.</translation>
    </message>
    <message>
        <source>The voice&apos;s first sound</source>
        <translation>Der erste Ton der Stimme</translation>
    </message>
    <message>
        <source>The voice&apos;s model remembers {0} of {1} minutes.</source>
        <translation>Das Modell der Stimme erinnert sich an {0} von {1} Minuten.</translation>
    </message>
    <message>
        <source>The voice&apos;s own model started after {0}, without waiting for another model.</source>
        <translation>Das eigene Modell der Stimme begann nach {0}, ohne auf ein anderes Modell zu warten.</translation>
    </message>
    <message>
        <source>This machine fell behind and dropped frames ({3}). Close other programs, or choose a lighter voice.</source>
        <translation>Dieser Rechner kam nicht nach und ließ Frames aus ({3}). Schließe andere Programme oder wähle eine leichtere Stimme.</translation>
    </message>
    <message>
        <source>This machine was too busy to transcribe what you said, which took {0}{2}. Close other programs.</source>
        <translation>Dieser Rechner war zu beschäftigt, um deine Worte zu erkennen; das dauerte {0}{2}. Schließe andere Programme.</translation>
    </message>
    <message>
        <source>Transcribing what you said</source>
        <translation>Deine Worte erkennen</translation>
    </message>
    <message>
        <source>Transcribing what you said took {0}{2}.</source>
        <translation>Deine Worte zu erkennen dauerte {0}{2}.</translation>
    </message>
    <message>
        <source>Without hands-free, releasing the talk button ends your turn.</source>
        <translation>Ohne Freisprechen beendet das Loslassen der Sprechtaste deinen Beitrag.</translation>
    </message>
    <message>
        <source>You had switched the model, so {1} was asked again, which took {0}.</source>
        <translation>Du hattest das Modell gewechselt, deshalb wurde {1} noch einmal gefragt, und das dauerte {0}.</translation>
    </message>
    <message>
        <source>You heard it {0} after sending.</source>
        <translation>Du hast sie {0} nach dem Absenden gehört.</translation>
    </message>
    <message>
        <source>You heard it {0} after your last sound.</source>
        <translation>Du hast sie {0} nach deinem letzten Ton gehört.</translation>
    </message>
    <message>
        <source>You released the talk button {0} after your last sound. Release it as soon as you have finished.</source>
        <translation>Du hast die Sprechtaste {0} nach deinem letzten Ton losgelassen. Lass sie los, sobald du fertig bist.</translation>
    </message>
    <message>
        <source>You set a pause of {0} before each answer. Lower “Answer delay” to hear it sooner.</source>
        <translation>Du hast vor jeder Antwort eine Pause von {0} eingestellt. Stell „Antwortpause“ niedriger, um sie eher zu hören.</translation>
    </message>
    <message>
        <source>end of turn</source>
        <translation>Beitragsende</translation>
    </message>
    <message>
        <source>in between</source>
        <translation>dazwischen</translation>
    </message>
    <message>
        <source>model</source>
        <translation>Sprachmodell</translation>
    </message>
    <message>
        <source>transcript</source>
        <translation>Erkennung</translation>
    </message>
    <message>
        <source>voice</source>
        <translation>Stimme</translation>
    </message>
    <message>
        <source>{1} took {0} to its first words. It was its first answer in this conversation: a model that has just been loaded is slower once.</source>
        <translation>{1} brauchte {0} bis zu den ersten Worten. Es war die erste Antwort in diesem Gespräch: Ein Modell, das eben erst geladen wurde, ist einmal langsamer.</translation>
    </message>
    <message>
        <source>{1} took {0} to its first words{2}.</source>
        <translation>{1} brauchte {0} bis zu den ersten Worten{2}.</translation>
    </message>
    <message>
        <source>{1} was asked again because your last words changed the question, and took {0} to its first words{2}.</source>
        <translation>{1} wurde noch einmal gefragt, weil deine letzten Worte die Frage änderten, und brauchte {0} bis zu den ersten Worten{2}.</translation>
    </message>
</context>
<context>
    <name>LevelMeter</name>
    <message>
        <source>muted</source>
        <translation>stumm</translation>
    </message>
    <message>
        <source>too loud</source>
        <translation>zu laut</translation>
    </message>
</context>
<context>
    <name>LinkRow</name>
    <message>
        <source>Change…</source>
        <translation>Ändern…</translation>
    </message>
    <message>
        <source>On the page “{0}”</source>
        <translation>Auf der Seite „{0}“</translation>
    </message>
    <message>
        <source>Open…</source>
        <translation>Öffnen…</translation>
    </message>
    <message>
        <source>{0}: open</source>
        <translation>{0}: öffnen</translation>
    </message>
</context>
<context>
    <name>LocalCard</name>
    <message>
        <source>&amp;Check the files</source>
        <translation>Dateien &amp;prüfen</translation>
    </message>
    <message>
        <source>&amp;Let the app choose</source>
        <translation>Die App wählen &amp;lassen</translation>
    </message>
    <message>
        <source>&amp;Remove from this machine</source>
        <translation>Von diesem Rechner &amp;entfernen</translation>
    </message>
    <message>
        <source>About {0}</source>
        <translation>Über {0}</translation>
    </message>
    <message>
        <source>Came with the app</source>
        <translation>Mit der App geliefert</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Cancel the download of {0}</source>
        <translation>Herunterladen von {0} abbrechen</translation>
    </message>
    <message>
        <source>Does not fit</source>
        <translation>Passt nicht</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>Herunterladen</translation>
    </message>
    <message>
        <source>Download of {0}</source>
        <translation>Herunterladen von {0}</translation>
    </message>
    <message>
        <source>Download {0}</source>
        <translation>{0} herunterladen</translation>
    </message>
    <message>
        <source>Estimated from another model: {0}</source>
        <translation>Geschätzt nach einem anderen Modell: {0}</translation>
    </message>
    <message>
        <source>Fits in memory</source>
        <translation>Passt in den Speicher</translation>
    </message>
    <message>
        <source>Fits this machine</source>
        <translation>Passt zu diesem Rechner</translation>
    </message>
    <message>
        <source>How fast it is here is not known to be enough.</source>
        <translation>Ob es hier schnell genug ist, ist nicht bekannt.</translation>
    </message>
    <message>
        <source>In use</source>
        <translation>In Gebrauch</translation>
    </message>
    <message>
        <source>Instant</source>
        <translation>Sofort</translation>
    </message>
    <message>
        <source>Measured here: {0}</source>
        <translation>Hier gemessen: {0}</translation>
    </message>
    <message>
        <source>More about {0}</source>
        <translation>Mehr zu {0}</translation>
    </message>
    <message>
        <source>Needs a graphics card</source>
        <translation>Braucht eine Grafikkarte</translation>
    </message>
    <message>
        <source>Note on {0}</source>
        <translation>Hinweis zu {0}</translation>
    </message>
    <message>
        <source>On this machine</source>
        <translation>Auf diesem Rechner</translation>
    </message>
    <message>
        <source>Partly here</source>
        <translation>Teilweise hier</translation>
    </message>
    <message>
        <source>Play</source>
        <translation>Abspielen</translation>
    </message>
    <message>
        <source>Play a sample of {0}</source>
        <translation>Eine Probe von {0} abspielen</translation>
    </message>
    <message>
        <source>Quick</source>
        <translation>Schnell</translation>
    </message>
    <message>
        <source>Recommended</source>
        <translation>Empfohlen</translation>
    </message>
    <message>
        <source>Slow</source>
        <translation>Langsam</translation>
    </message>
    <message>
        <source>State of the download</source>
        <translation>Stand des Herunterladens</translation>
    </message>
    <message>
        <source>Use</source>
        <translation>Verwenden</translation>
    </message>
    <message>
        <source>Use {0}</source>
        <translation>{0} verwenden</translation>
    </message>
    <message>
        <source>Voice of {0}</source>
        <translation>Stimme von {0}</translation>
    </message>
    <message>
        <source>many languages</source>
        <translation>viele Sprachen</translation>
    </message>
    <message>
        <source>{0} GB</source>
        <translation>{0} GB</translation>
    </message>
    <message>
        <source>{0} MB</source>
        <translation>{0} MB</translation>
    </message>
    <message>
        <source>{0} of 120 facts right</source>
        <translation>{0} von 120 Fakten richtig</translation>
    </message>
    <message>
        <source>“Check this machine” tells more.</source>
        <translation>„Diesen Rechner prüfen“ sagt mehr.</translation>
    </message>
</context>
<context>
    <name>LocalModels</name>
    <message>
        <source>End of turn</source>
        <translation>Ende des Redebeitrags</translation>
    </message>
    <message>
        <source>Language models</source>
        <translation>Sprachmodelle</translation>
    </message>
    <message>
        <source>Loading {0} …</source>
        <translation>{0} wird geladen …</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>Reading all of {0} …</source>
        <translation>{0} wird ganz gelesen …</translation>
    </message>
    <message>
        <source>Speech recognition</source>
        <translation>Spracherkennung</translation>
    </message>
    <message>
        <source>The app chooses from now on.</source>
        <translation>Ab jetzt wählt die App.</translation>
    </message>
    <message>
        <source>Voice engines for a graphics card</source>
        <translation>Sprachmodule für eine Grafikkarte</translation>
    </message>
    <message>
        <source>Voices</source>
        <translation>Stimmen</translation>
    </message>
    <message>
        <source>What happened</source>
        <translation>Was geschehen ist</translation>
    </message>
    <message>
        <source>{0} is on this machine.</source>
        <translation>{0} ist auf diesem Rechner.</translation>
    </message>
    <message>
        <source>{0} is used from now on.</source>
        <translation>{0} wird von jetzt an verwendet.</translation>
    </message>
</context>
<context>
    <name>LogPage</name>
    <message>
        <source>&amp;Search and diagnostics…</source>
        <translation>&amp;Suche und Diagnose…</translation>
    </message>
    <message>
        <source>Open the whole log</source>
        <translation>Das ganze Protokoll öffnen</translation>
    </message>
</context>
<context>
    <name>LogPanel</name>
    <message>
        <source>&amp;Copy entries</source>
        <translation>Einträge &amp;kopieren</translation>
    </message>
    <message>
        <source>&amp;Open the log folder</source>
        <translation>&amp;Protokollordner öffnen</translation>
    </message>
    <message>
        <source>&amp;with what was said</source>
        <translation>&amp;mit dem Gesagten</translation>
    </message>
    <message>
        <source>1 entry</source>
        <translation>1 Eintrag</translation>
    </message>
    <message>
        <source>All levels</source>
        <translation>Alle Stufen</translation>
    </message>
    <message>
        <source>C&amp;lear</source>
        <translation>&amp;Leeren</translation>
    </message>
    <message>
        <source>Choose an entry to read all of it.</source>
        <translation>Wähle einen Eintrag, um ihn ganz zu lesen.</translation>
    </message>
    <message>
        <source>Clear the log</source>
        <translation>Protokoll leeren</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Copied 1 entry.</source>
        <translation>1 Eintrag kopiert.</translation>
    </message>
    <message>
        <source>Copied {0} entries.</source>
        <translation>{0} Einträge kopiert.</translation>
    </message>
    <message>
        <source>Copied, without keys and without what was said.</source>
        <translation>Kopiert, ohne Schlüssel und ohne das Gesagte.</translation>
    </message>
    <message>
        <source>Copied, without keys, and with what was said. Read it before you pass it on.</source>
        <translation>Kopiert, ohne Schlüssel und mit dem Gesagten. Lies es, bevor du es weitergibst.</translation>
    </message>
    <message>
        <source>Copy &amp;diagnostics</source>
        <translation>&amp;Diagnose kopieren</translation>
    </message>
    <message>
        <source>Copy the selected entries</source>
        <translation>Gewählte Einträge kopieren</translation>
    </message>
    <message>
        <source>Diagnostics with what was said</source>
        <translation>Diagnose mit dem Gesagten</translation>
    </message>
    <message>
        <source>Errors and bugs</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>Go to the &amp;newest</source>
        <translation>Zur &amp;neuesten</translation>
    </message>
    <message>
        <source>Levels that are shown</source>
        <translation>Gezeigte Stufen</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Protokoll</translation>
    </message>
    <message>
        <source>No entry matches. Search for less, or show all levels.</source>
        <translation>Kein Eintrag passt. Such nach weniger oder zeig alle Stufen.</translation>
    </message>
    <message>
        <source>Nothing has been logged yet.</source>
        <translation>Noch wurde nichts protokolliert.</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>Search in the log</source>
        <translation>Im Protokoll suchen</translation>
    </message>
    <message>
        <source>The folder can&apos;t be opened on this desktop. It is {0}</source>
        <translation>Der Ordner lässt sich auf diesem Desktop nicht öffnen. Er ist {0}</translation>
    </message>
    <message>
        <source>The log was cleared here. Its files remain.</source>
        <translation>Das Protokoll wurde hier geleert. Seine Dateien bleiben.</translation>
    </message>
    <message>
        <source>The selected entries in full</source>
        <translation>Die gewählten Einträge vollständig</translation>
    </message>
    <message>
        <source>Warnings and worse</source>
        <translation>Warnungen und Schlimmeres</translation>
    </message>
    <message>
        <source>What was done</source>
        <translation>Was getan wurde</translation>
    </message>
    <message>
        <source>Writing …</source>
        <translation>Wird geschrieben …</translation>
    </message>
    <message>
        <source>{0} entries</source>
        <translation>{0} Einträge</translation>
    </message>
    <message>
        <source>{0} of {1} entries</source>
        <translation>{0} von {1} Einträgen</translation>
    </message>
</context>
<context>
    <name>LogTable</name>
    <message>
        <source>Bug</source>
        <translation>Programmfehler</translation>
    </message>
    <message>
        <source>Detail</source>
        <translation>Einzelheiten</translation>
    </message>
    <message>
        <source>Error</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>Level</source>
        <translation>Stufe</translation>
    </message>
    <message>
        <source>Message</source>
        <translation>Meldung</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>Hinweis</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>Warning</source>
        <translation>Warnung</translation>
    </message>
    <message>
        <source>Where</source>
        <translation>Wo</translation>
    </message>
</context>
<context>
    <name>LogView</name>
    <message>
        <source>Columns of the log</source>
        <translation>Spalten des Protokolls</translation>
    </message>
    <message>
        <source>Log entries</source>
        <translation>Einträge des Protokolls</translation>
    </message>
    <message>
        <source>Warning</source>
        <translation>Warnung</translation>
    </message>
</context>
<context>
    <name>MachinePage</name>
    <message>
        <source>&amp;Try the card</source>
        <translation>Karte a&amp;usprobieren</translation>
    </message>
    <message>
        <source>Check a&amp;gain</source>
        <translation>Er&amp;neut prüfen</translation>
    </message>
    <message>
        <source>Check of this machine</source>
        <translation>Prüfung dieses Rechners</translation>
    </message>
    <message>
        <source>Check this machine again</source>
        <translation>Diesen Rechner noch einmal prüfen</translation>
    </message>
    <message>
        <source>Checking this machine …</source>
        <translation>Dieser Rechner wird geprüft …</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>Festplatte</translation>
    </message>
    <message>
        <source>Graphics card</source>
        <translation>Grafikkarte</translation>
    </message>
    <message>
        <source>KAME on the card</source>
        <translation>KAME auf der Karte</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>Schlüssel</translation>
    </message>
    <message>
        <source>Loudspeaker</source>
        <translation>Lautsprecher</translation>
    </message>
    <message>
        <source>Microphone</source>
        <translation>Mikrofon</translation>
    </message>
    <message>
        <source>Ollama</source>
        <translation>Ollama</translation>
    </message>
    <message>
        <source>Processor</source>
        <translation>Prozessor</translation>
    </message>
    <message>
        <source>Try KAME on the graphics card, which takes about a minute</source>
        <translation>KAME auf der Grafikkarte ausprobieren; das dauert etwa eine Minute</translation>
    </message>
    <message>
        <source>Trying KAME on the graphics card …</source>
        <translation>KAME wird auf der Grafikkarte ausprobiert …</translation>
    </message>
    <message>
        <source>What fits this machine</source>
        <translation>Was zu diesem Rechner passt</translation>
    </message>
    <message>
        <source>What is being checked</source>
        <translation>Was geprüft wird</translation>
    </message>
</context>
<context>
    <name>MainWindow</name>
    <message>
        <source>Go to the newest notice</source>
        <translation>Zum neuesten Hinweis</translation>
    </message>
    <message>
        <source>KAME</source>
        <translation>KAME</translation>
    </message>
    <message>
        <source>Open the menu</source>
        <translation>Menü öffnen</translation>
    </message>
    <message>
        <source>The thoughts behind this answer are no longer here: only the newest ones are kept.</source>
        <translation>Die Gedanken hinter dieser Antwort sind nicht mehr hier: Nur die neuesten werden behalten.</translation>
    </message>
</context>
<context>
    <name>Mark</name>
    <message>
        <source>all right</source>
        <translation>in Ordnung</translation>
    </message>
    <message>
        <source>good</source>
        <translation>gut</translation>
    </message>
    <message>
        <source>missing</source>
        <translation>fehlt</translation>
    </message>
</context>
<context>
    <name>Measurements</name>
    <message>
        <source>Clocks</source>
        <translation>Taktgeber</translation>
    </message>
    <message>
        <source>Clocks measured</source>
        <translation>Gemessene Taktgeber</translation>
    </message>
    <message>
        <source>Echo</source>
        <translation>Echo</translation>
    </message>
    <message>
        <source>Echo is made {0} dB quieter.</source>
        <translation>Das Echo wird um {0} dB leiser gemacht.</translation>
    </message>
    <message>
        <source>Echo measured</source>
        <translation>Gemessenes Echo</translation>
    </message>
    <message>
        <source>Echo remains, and the app may mistake its own voice for yours.</source>
        <translation>Es bleibt Echo, und die App könnte ihre eigene Stimme für deine halten.</translation>
    </message>
    <message>
        <source>Echo remains: it is made {0} dB quieter, and the app may still mistake its own voice for yours.</source>
        <translation>Es bleibt Echo: Es wird um {0} dB leiser gemacht, und die App könnte trotzdem ihre eigene Stimme für deine halten.</translation>
    </message>
    <message>
        <source>Losses</source>
        <translation>Verluste</translation>
    </message>
    <message>
        <source>Loudspeaker and microphone keep the same time.</source>
        <translation>Lautsprecher und Mikrofon laufen im selben Takt.</translation>
    </message>
    <message>
        <source>No echo measured: headphones, or nothing has been said yet.</source>
        <translation>Kein Echo gemessen: Kopfhörer, oder es wurde noch nichts gesagt.</translation>
    </message>
    <message>
        <source>None of your voice was lost, and the app&apos;s had no gaps.</source>
        <translation>Nichts von deiner Stimme ging verloren, und die der App hatte keine Aussetzer.</translation>
    </message>
    <message>
        <source>Not known yet.</source>
        <translation>Noch nicht bekannt.</translation>
    </message>
    <message>
        <source>Not measured: echo cancellation is off.</source>
        <translation>Nicht gemessen: Die Echounterdrückung ist aus.</translation>
    </message>
    <message>
        <source>Nothing is measured, since no conversation is running.</source>
        <translation>Nichts wird gemessen, weil kein Gespräch läuft.</translation>
    </message>
    <message>
        <source>Sound lost</source>
        <translation>Verlorener Ton</translation>
    </message>
    <message>
        <source>Switch echo cancellation on, or use headphones.</source>
        <translation>Schalte die Echounterdrückung ein oder nimm Kopfhörer.</translation>
    </message>
    <message>
        <source>The loudspeaker&apos;s clock runs {0:.0f} ppm fast; this is corrected.</source>
        <translation>Der Takt des Lautsprechers geht {0:.0f} ppm vor; das wird ausgeglichen.</translation>
    </message>
    <message>
        <source>The loudspeaker&apos;s clock runs {0:.0f} ppm slow; this is corrected.</source>
        <translation>Der Takt des Lautsprechers geht {0:.0f} ppm nach; das wird ausgeglichen.</translation>
    </message>
    <message>
        <source>Turn the loudspeaker down, move the microphone away from it, or use headphones.</source>
        <translation>Stell den Lautsprecher leiser, rück das Mikrofon von ihm weg oder nimm Kopfhörer.</translation>
    </message>
    <message>
        <source>ppm: parts per million. 12 ppm are a second a day.</source>
        <translation>ppm: Millionstel. 12 ppm sind eine Sekunde am Tag.</translation>
    </message>
    <message>
        <source>{0} ms of your voice were lost; gaps in the app&apos;s voice: {1}. The machine may be too busy.</source>
        <translation>{0} ms deiner Stimme gingen verloren; Aussetzer in der Stimme der App: {1}. Vielleicht ist der Rechner zu beschäftigt.</translation>
    </message>
</context>
<context>
    <name>MessageBar</name>
    <message>
        <source>Messages</source>
        <translation>Meldungen</translation>
    </message>
</context>
<context>
    <name>MessageRow</name>
    <message>
        <source>({0}×)</source>
        <translation>({0}×)</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Close this message</source>
        <translation>Diese Meldung schließen</translation>
    </message>
    <message>
        <source>Close this message (Esc)</source>
        <translation>Diese Meldung schließen (Esc)</translation>
    </message>
    <message>
        <source>Error</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>Notice</source>
        <translation>Hinweis</translation>
    </message>
    <message>
        <source>This has happened {0} times.</source>
        <translation>Das ist {0}-mal vorgekommen.</translation>
    </message>
    <message>
        <source>Warning</source>
        <translation>Warnung</translation>
    </message>
    <message>
        <source>{0} times</source>
        <translation>{0}-mal</translation>
    </message>
</context>
<context>
    <name>MicrophoneCard</name>
    <message>
        <source>Details</source>
        <translation>Einzelheiten</translation>
    </message>
    <message>
        <source>Details about sound</source>
        <translation>Einzelheiten zum Ton</translation>
    </message>
    <message>
        <source>Getting ready to listen …</source>
        <translation>Macht sich zum Zuhören bereit …</translation>
    </message>
    <message>
        <source>I hear you.</source>
        <translation>Ich höre dich.</translation>
    </message>
    <message>
        <source>Microphone</source>
        <translation>Mikrofon</translation>
    </message>
    <message>
        <source>Microphone level, dB</source>
        <translation>Pegel des Mikrofons, dB</translation>
    </message>
    <message>
        <source>No microphone was found. You can type; KAME notices one that you plug in.</source>
        <translation>Kein Mikrofon gefunden. Du kannst tippen; KAME bemerkt, wenn du eins anschließt.</translation>
    </message>
    <message>
        <source>Say something.</source>
        <translation>Sag etwas.</translation>
    </message>
    <message>
        <source>The conversation is stopped, so nothing is heard. You can type.</source>
        <translation>Das Gespräch ist angehalten, also wird nichts gehört. Du kannst tippen.</translation>
    </message>
    <message>
        <source>Whether you are heard</source>
        <translation>Ob du gehört wirst</translation>
    </message>
    <message>
        <source>You are muted, so nothing is heard.</source>
        <translation>Du bist stumm geschaltet, also wird nichts gehört.</translation>
    </message>
</context>
<context>
    <name>MiniTimeline</name>
    <message>
        <source>The last minute: your turns, KAME&apos;s answers, and the models at work. Click for more.</source>
        <translation>Die letzte Minute: deine Beiträge, KAMEs Antworten und die Modelle bei der Arbeit. Klick für mehr.</translation>
    </message>
    <message>
        <source>Timeline of the last minute</source>
        <translation>Zeitleiste der letzten Minute</translation>
    </message>
</context>
<context>
    <name>MiniWindow</name>
    <message>
        <source>Back to the window</source>
        <translation>Zurück zum Fenster</translation>
    </message>
    <message>
        <source>Enter</source>
        <translation>Eingabe</translation>
    </message>
    <message>
        <source>Esc</source>
        <translation>Esc</translation>
    </message>
    <message>
        <source>KAME</source>
        <translation>KAME</translation>
    </message>
    <message>
        <source>Message</source>
        <translation>Meldung</translation>
    </message>
    <message>
        <source>Mini window</source>
        <translation>Minifenster</translation>
    </message>
    <message>
        <source>Stop speaking</source>
        <translation>Nicht weitersprechen</translation>
    </message>
    <message>
        <source>Talk</source>
        <translation>Gespräch</translation>
    </message>
    <message>
        <source>Type a message</source>
        <translation>Nachricht tippen</translation>
    </message>
</context>
<context>
    <name>ModelCard</name>
    <message>
        <source>&amp;Use it</source>
        <translation>&amp;Verwenden</translation>
    </message>
    <message>
        <source>A better model</source>
        <translation>Ein besseres Modell</translation>
    </message>
    <message>
        <source>Choose &amp;another…</source>
        <translation>&amp;Anderes wählen …</translation>
    </message>
    <message>
        <source>Choose another model</source>
        <translation>Ein anderes Modell wählen</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>Einzelheiten</translation>
    </message>
    <message>
        <source>Details about the model</source>
        <translation>Einzelheiten zum Modell</translation>
    </message>
    <message>
        <source>It runs in the cloud: what you say is sent there as text, and billed to your account.</source>
        <translation>Es läuft in der Cloud: Was du sagst, geht als Text dorthin und wird deinem Konto berechnet.</translation>
    </message>
    <message>
        <source>It runs on a server that you have entered: what you say is sent there as text.</source>
        <translation>Es läuft auf einem Server, den du eingetragen hast: Was du sagst, geht als Text dorthin.</translation>
    </message>
    <message>
        <source>It runs on this machine, and costs nothing.</source>
        <translation>Es läuft auf diesem Rechner und kostet nichts.</translation>
    </message>
    <message>
        <source>KAME can use your graphics card once it is set up.</source>
        <translation>KAME kann deine Grafikkarte nutzen, sobald sie eingerichtet ist.</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Set &amp;up…</source>
        <translation>Ein&amp;richten …</translation>
    </message>
    <message>
        <source>Set up what fits the graphics card</source>
        <translation>Einrichten, was zur Grafikkarte passt</translation>
    </message>
    <message>
        <source>Tiny, for trying out: it runs on this machine and costs nothing, but knows little.</source>
        <translation>Winzig, zum Ausprobieren: Es läuft auf diesem Rechner und kostet nichts, weiß aber wenig.</translation>
    </message>
    <message>
        <source>Use the better model</source>
        <translation>Das bessere Modell verwenden</translation>
    </message>
    <message>
        <source>What fits the graphics card</source>
        <translation>Was zur Grafikkarte passt</translation>
    </message>
    <message>
        <source>What the model costs</source>
        <translation>Was das Modell kostet</translation>
    </message>
    <message>
        <source>Your graphics card has room for KAME ({0} GB to download).</source>
        <translation>Auf deiner Grafikkarte ist Platz für KAME ({0} GB herunterzuladen).</translation>
    </message>
    <message>
        <source>Your graphics card has room for KAME.</source>
        <translation>Auf deiner Grafikkarte ist Platz für KAME.</translation>
    </message>
    <message>
        <source>{0} (Ollama) is here, too, and knows far more.</source>
        <translation>{0} (Ollama) ist auch hier und weiß weit mehr.</translation>
    </message>
</context>
<context>
    <name>ModelField</name>
    <message>
        <source>1 model is offered.</source>
        <translation>1 Modell wird angeboten.</translation>
    </message>
    <message>
        <source>Fetches the list of models again.</source>
        <translation>Holt die Liste der Modelle noch einmal.</translation>
    </message>
    <message>
        <source>No models are known yet: type a name.</source>
        <translation>Noch sind keine Modelle bekannt: Gib einen Namen ein.</translation>
    </message>
    <message>
        <source>The list of models could not be fetched: {0}</source>
        <translation>Die Liste der Modelle ließ sich nicht holen: {0}</translation>
    </message>
    <message>
        <source>The list of models is being fetched.</source>
        <translation>Die Liste der Modelle wird geholt.</translation>
    </message>
    <message>
        <source>The model&apos;s name; empty for the default one.</source>
        <translation>Der Name des Modells; leer: das voreingestellte.</translation>
    </message>
    <message>
        <source>{0} models are offered.</source>
        <translation>{0} Modelle werden angeboten.</translation>
    </message>
</context>
<context>
    <name>ModelListModel</name>
    <message>
        <source>Connect to</source>
        <translation>Verbinden mit</translation>
    </message>
    <message>
        <source>Favourites</source>
        <translation>Favoriten</translation>
    </message>
    <message>
        <source>In the cloud</source>
        <translation>In der Cloud</translation>
    </message>
    <message>
        <source>Last chosen</source>
        <translation>Zuletzt gewählt</translation>
    </message>
    <message>
        <source>On this computer</source>
        <translation>Auf diesem Rechner</translation>
    </message>
    <message>
        <source>To download</source>
        <translation>Zum Herunterladen</translation>
    </message>
    <message>
        <source>Your servers</source>
        <translation>Deine Server</translation>
    </message>
    <message>
        <source>is coming</source>
        <translation>kommt gleich</translation>
    </message>
    <message>
        <source>needs a key</source>
        <translation>braucht einen Schlüssel</translation>
    </message>
    <message>
        <source>not reachable</source>
        <translation>nicht erreichbar</translation>
    </message>
    <message>
        <source>press Enter</source>
        <translation>Enter drücken</translation>
    </message>
    <message>
        <source>running here</source>
        <translation>läuft hier</translation>
    </message>
</context>
<context>
    <name>ModelListView</name>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
</context>
<context>
    <name>ModelName</name>
    <message>
        <source>Choose a model</source>
        <translation>Modell wählen</translation>
    </message>
    <message>
        <source>Model: {0}</source>
        <translation>Modell: {0}</translation>
    </message>
    <message>
        <source>{0} ▾</source>
        <translation>{0} ▾</translation>
    </message>
</context>
<context>
    <name>ModelOffer</name>
    <message>
        <source>A better model</source>
        <translation>Ein besseres Modell</translation>
    </message>
    <message>
        <source>Do&amp;wnload</source>
        <translation>Herunter&amp;laden</translation>
    </message>
    <message>
        <source>Download of the better model</source>
        <translation>Herunterladen des besseren Modells</translation>
    </message>
    <message>
        <source>Download the better model</source>
        <translation>Das bessere Modell herunterladen</translation>
    </message>
    <message>
        <source>Sto&amp;p</source>
        <translation>St&amp;opp</translation>
    </message>
    <message>
        <source>Stop the download of the better model</source>
        <translation>Das Herunterladen des besseren Modells anhalten</translation>
    </message>
    <message>
        <source>This machine is fast enough for {0} ({1} GB to download), which knows far more.</source>
        <translation>Dieser Rechner ist schnell genug für {0} ({1} GB zum Herunterladen), das viel mehr weiß.</translation>
    </message>
    <message>
        <source>{0} is being downloaded ({1} GB). Until then the small model answers.</source>
        <translation>{0} wird heruntergeladen ({1} GB). Bis dahin antwortet das kleine Modell.</translation>
    </message>
    <message>
        <source>{0} is on this machine, and is used by “Built-in”.</source>
        <translation>{0} ist auf diesem Rechner und wird von „Eingebaut“ verwendet.</translation>
    </message>
</context>
<context>
    <name>ModelOffers</name>
    <message>
        <source>Download</source>
        <translation>Herunterladen</translation>
    </message>
    <message>
        <source>No, thanks</source>
        <translation>Nein, danke</translation>
    </message>
    <message>
        <source>Restart KAME</source>
        <translation>KAME neu starten</translation>
    </message>
    <message>
        <source>This machine is fast enough for {0} ({1} GB to download), which knows far more.</source>
        <translation>Dieser Rechner ist schnell genug für {0} ({1} GB zum Herunterladen), das viel mehr weiß.</translation>
    </message>
    <message>
        <source>Use it</source>
        <translation>Verwenden</translation>
    </message>
    <message>
        <source>Use it now</source>
        <translation>Jetzt verwenden</translation>
    </message>
    <message>
        <source>What the graphics card needs is installed, and is used after a restart of KAME.</source>
        <translation>Was die Grafikkarte braucht, ist installiert und wird nach einem Neustart von KAME verwendet.</translation>
    </message>
    <message>
        <source>{0} (Ollama) is here, too, and knows far more.</source>
        <translation>{0} (Ollama) ist auch hier und weiß weit mehr.</translation>
    </message>
    <message>
        <source>{0} is being downloaded. Until then the small model answers.</source>
        <translation>{0} wird heruntergeladen. Bis dahin antwortet das kleine Modell.</translation>
    </message>
    <message>
        <source>{0} is downloaded, and can hear and speak from now on.</source>
        <translation>{0} ist heruntergeladen und kann von jetzt an hören und sprechen.</translation>
    </message>
    <message>
        <source>{0} is here. New conversations with the built-in model use it.</source>
        <translation>{0} ist da. Neue Gespräche mit dem eingebauten Modell benutzen es.</translation>
    </message>
</context>
<context>
    <name>ModelPill</name>
    <message>
        <source>Model: {0}</source>
        <translation>Modell: {0}</translation>
    </message>
    <message>
        <source>Opens the list of models.</source>
        <translation>Öffnet die Liste der Modelle.</translation>
    </message>
    <message>
        <source>{0} answers until {1} is ready. Click to change the model (Ctrl+Shift+M).</source>
        <translation>{0} antwortet, bis {1} bereit ist. Klicke, um das Modell zu wechseln (Strg+Umschalt+M).</translation>
    </message>
    <message>
        <source>{0}. Click to change the model, also in mid-answer (Ctrl+Shift+M).</source>
        <translation>{0}. Klick wechselt das Modell, auch mitten in der Antwort (Strg+Umschalt+M).</translation>
    </message>
    <message>
        <source>{0}; {1} is coming</source>
        <translation>{0}; {1} kommt</translation>
    </message>
</context>
<context>
    <name>ModelPopover</name>
    <message>
        <source>&amp;Answer</source>
        <translation>Ant&amp;wort</translation>
    </message>
    <message>
        <source>&amp;Compare…</source>
        <translation>Ver&amp;gleichen…</translation>
    </message>
    <message>
        <source>&amp;Models and servers…</source>
        <translation>&amp;Modelle und Server …</translation>
    </message>
    <message>
        <source>&amp;Voice engine</source>
        <translation>&amp;Sprachmodul</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>Antwort</translation>
    </message>
    <message>
        <source>It waits for the end of what you say.</source>
        <translation>Es wartet das Ende dessen ab, was du sagst.</translation>
    </message>
    <message>
        <source>It works on the answer while you still talk, and speaks while it thinks.</source>
        <translation>Es arbeitet an der Antwort, während du noch sprichst, und spricht, während es denkt.</translation>
    </message>
    <message>
        <source>Voice engine</source>
        <translation>Sprachmodul</translation>
    </message>
    <message>
        <source>What hears and speaks.</source>
        <translation>Was hört und spricht.</translation>
    </message>
    <message>
        <source>When I finish</source>
        <translation>Wenn ich fertig bin</translation>
    </message>
    <message>
        <source>When the answer begins.</source>
        <translation>Wann die Antwort beginnt.</translation>
    </message>
    <message>
        <source>While I speak</source>
        <translation>Während ich spreche</translation>
    </message>
</context>
<context>
    <name>ModelQuestion</name>
    <message>
        <source>&amp;Models and servers…</source>
        <translation>&amp;Modelle und Server …</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
</context>
<context>
    <name>ModelSearch</name>
    <message>
        <source>No match. Paste a server&apos;s address to connect to it.</source>
        <translation>Kein Treffer. Füge die Adresse eines Servers ein, um dich mit ihm zu verbinden.</translation>
    </message>
    <message>
        <source>Search models, or paste a server&apos;s address</source>
        <translation>Modelle suchen oder Serveradresse einfügen</translation>
    </message>
</context>
<context>
    <name>ModelsDialog</name>
    <message>
        <source>A server on this machine or another one: what you say is sent to its address as text.</source>
        <translation>Ein Server auf diesem oder einem anderen Rechner: Was du sagst, geht als Text an seine Adresse.</translation>
    </message>
    <message>
        <source>Add a server…</source>
        <translation>Server hinzufügen…</translation>
    </message>
    <message>
        <source>Check this machine</source>
        <translation>Diesen Rechner prüfen</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Close this dialog</source>
        <translation>Diesen Dialog schließen</translation>
    </message>
    <message>
        <source>Everything here runs on this machine. “Facts right”: how many of 120 short questions a model answers correctly.</source>
        <translation>Alles hier läuft auf diesem Rechner. „Fakten richtig“: wie viele von 120 kurzen Fragen ein Modell richtig beantwortet.</translation>
    </message>
    <message>
        <source>Models and servers</source>
        <translation>Modelle und Server</translation>
    </message>
    <message>
        <source>Page</source>
        <translation>Seite</translation>
    </message>
    <message>
        <source>Page shown</source>
        <translation>Gezeigte Seite</translation>
    </message>
    <message>
        <source>Places where models run</source>
        <translation>Orte, an denen Modelle laufen</translation>
    </message>
    <message>
        <source>This computer</source>
        <translation>Dieser Rechner</translation>
    </message>
    <message>
        <source>What this machine has, and what fits it. The built-in voice works on any machine.</source>
        <translation>Was dieser Rechner hat und was zu ihm passt. Die eingebaute Stimme läuft auf jedem Rechner.</translation>
    </message>
    <message>
        <source>What you say is sent there as text, and billed to your account.</source>
        <translation>Was du sagst, geht als Text dorthin und wird deinem Konto berechnet.</translation>
    </message>
</context>
<context>
    <name>MuteButton</name>
    <message>
        <source>Mute the microphone</source>
        <translation>Mikrofon stummschalten</translation>
    </message>
    <message>
        <source>Silences the microphone (Ctrl+M).</source>
        <translation>Schaltet das Mikrofon stumm (Strg+M).</translation>
    </message>
    <message>
        <source>The microphone is muted: none of its sound is used.</source>
        <translation>Das Mikrofon ist stumm: Von seinem Ton wird nichts verwendet.</translation>
    </message>
</context>
<context>
    <name>OracleCards</name>
    <message>
        <source> ({0} from the cache)</source>
        <translation> ({0} aus dem Cache)</translation>
    </message>
    <message>
        <source> · no price known</source>
        <translation> · kein Preis bekannt</translation>
    </message>
    <message>
        <source>(no words)</source>
        <translation>(keine Worte)</translation>
    </message>
    <message>
        <source>1 word</source>
        <translation>1 Wort</translation>
    </message>
    <message>
        <source>Asked on: “{0}”</source>
        <translation>Gefragt mit: „{0}“</translation>
    </message>
    <message>
        <source>Thought: {0}</source>
        <translation>Gedacht: {0}</translation>
    </message>
    <message>
        <source>Waiting for {0} … {1} s</source>
        <translation>{0} antwortet noch nicht … {1} s</translation>
    </message>
    <message>
        <source>about {0} tokens in, {1} out</source>
        <translation>etwa {0} Token Eingabe, {1} Ausgabe</translation>
    </message>
    <message>
        <source>asked</source>
        <translation>gefragt</translation>
    </message>
    <message>
        <source>comparison</source>
        <translation>Vergleich</translation>
    </message>
    <message>
        <source>complete turn</source>
        <translation>ganzer Redebeitrag</translation>
    </message>
    <message>
        <source>earlier</source>
        <translation>früher</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>fehlgeschlagen</translation>
    </message>
    <message>
        <source>failed: {0}</source>
        <translation>fehlgeschlagen: {0}</translation>
    </message>
    <message>
        <source>first words after {0}</source>
        <translation>erste Worte nach {0}</translation>
    </message>
    <message>
        <source>interrupted</source>
        <translation>unterbrochen</translation>
    </message>
    <message>
        <source>on 1 word</source>
        <translation>mit 1 Wort</translation>
    </message>
    <message>
        <source>on {0} words</source>
        <translation>mit {0} Wörtern</translation>
    </message>
    <message>
        <source>replaced</source>
        <translation>ersetzt</translation>
    </message>
    <message>
        <source>replaced by {0}</source>
        <translation>ersetzt durch {0}</translation>
    </message>
    <message>
        <source>speaking</source>
        <translation>spricht</translation>
    </message>
    <message>
        <source>spoken</source>
        <translation>gesprochen</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>abgebrochen</translation>
    </message>
    <message>
        <source>the model</source>
        <translation>das Modell</translation>
    </message>
    <message>
        <source>took over</source>
        <translation>hat übernommen</translation>
    </message>
    <message>
        <source>{0} ({1})</source>
        <translation>{0} ({1})</translation>
    </message>
    <message>
        <source>{0} tokens in, {1} out</source>
        <translation>{0} Token Eingabe, {1} Ausgabe</translation>
    </message>
    <message>
        <source>{0} with {1}</source>
        <translation>{0} mit {1}</translation>
    </message>
    <message>
        <source>{0} words</source>
        <translation>{0} Wörter</translation>
    </message>
    <message>
        <source>{0} words heard, {1} sent to the voice, {2} still waiting</source>
        <translation>{0} Wörter gehört, {1} bei der Stimme, {2} warten noch</translation>
    </message>
    <message>
        <source>{0} · allowed</source>
        <translation>{0} · erlaubt</translation>
    </message>
    <message>
        <source>{0} · not allowed</source>
        <translation>{0} · nicht erlaubt</translation>
    </message>
    <message>
        <source>{0} · not done without your consent</source>
        <translation>{0} · ohne deine Zustimmung nicht ausgeführt</translation>
    </message>
    <message>
        <source>{0} · waits for your consent</source>
        <translation>{0} · wartet auf deine Zustimmung</translation>
    </message>
</context>
<context>
    <name>OracleColumn</name>
    <message>
        <source>Oracle thoughts</source>
        <translation>Gedanken des Orakels</translation>
    </message>
    <message>
        <source>S&amp;witch</source>
        <translation>W&amp;echseln</translation>
    </message>
    <message>
        <source>Switch to {0}</source>
        <translation>Zu {0} wechseln</translation>
    </message>
    <message>
        <source>Thoughts of {0}</source>
        <translation>Gedanken von {0}</translation>
    </message>
    <message>
        <source>answers</source>
        <translation>antwortet</translation>
    </message>
</context>
<context>
    <name>OracleHeader</name>
    <message>
        <source>A second model answers, too: its answers are shown and not spoken.</source>
        <translation>Ein zweites Modell antwortet ebenfalls: Seine Antworten werden gezeigt und nicht gesprochen.</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>Vergleichen</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>Einzelheiten</translation>
    </message>
    <message>
        <source>Earlier thoughts</source>
        <translation>Frühere Gedanken</translation>
    </message>
    <message>
        <source>End comparison</source>
        <translation>Vergleich beenden</translation>
    </message>
    <message>
        <source>Oracle</source>
        <translation>Orakel</translation>
    </message>
    <message>
        <source>S&amp;witch</source>
        <translation>W&amp;echseln</translation>
    </message>
    <message>
        <source>Shows the answers before the one that counts, too.</source>
        <translation>Zeigt auch die Antworten vor der, die gilt.</translation>
    </message>
    <message>
        <source>Shows what was asked, how fast the answer came, and what it cost.</source>
        <translation>Zeigt, was gefragt wurde, wie schnell die Antwort kam und was sie gekostet hat.</translation>
    </message>
    <message>
        <source>Switch to the comparison model</source>
        <translation>Zum Vergleichsmodell wechseln</translation>
    </message>
    <message>
        <source>The comparison model answers from now on, and the present one becomes the comparison (Ctrl+H).</source>
        <translation>Das Vergleichsmodell antwortet ab jetzt, und das jetzige wird zum Vergleich (Strg+H).</translation>
    </message>
    <message>
        <source>The comparison model answers no more.</source>
        <translation>Das Vergleichsmodell antwortet nicht mehr.</translation>
    </message>
    <message>
        <source>The model that answers, and the comparison</source>
        <translation>Das Modell, das antwortet, und der Vergleich</translation>
    </message>
    <message>
        <source>The model&apos;s thoughts while you speak.</source>
        <translation>Die Gedanken des Modells, während du sprichst.</translation>
    </message>
    <message>
        <source>the other model</source>
        <translation>das andere Modell</translation>
    </message>
    <message>
        <source>{0} answers; {1} is the comparison.</source>
        <translation>{0} antwortet; {1} ist der Vergleich.</translation>
    </message>
</context>
<context>
    <name>OraclePane</name>
    <message>
        <source>The comparison model&apos;s answers appear here.</source>
        <translation>Die Antworten des Vergleichsmodells erscheinen hier.</translation>
    </message>
    <message>
        <source>The model&apos;s answers appear here while you still speak.</source>
        <translation>Die Antworten des Modells erscheinen hier, während du noch sprichst.</translation>
    </message>
    <message>
        <source>The other model</source>
        <translation>Das andere Modell</translation>
    </message>
</context>
<context>
    <name>PageList</name>
    <message>
        <source>Pages of settings</source>
        <translation>Seiten der Einstellungen</translation>
    </message>
</context>
<context>
    <name>PaletteController</name>
    <message>
        <source>Begin to talk, and end</source>
        <translation>Sprechen beginnen und beenden</translation>
    </message>
    <message>
        <source>Elsewhere in the window</source>
        <translation>Sonst im Fenster</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Sprachmodell</translation>
    </message>
    <message>
        <source>Mute or unmute</source>
        <translation>Stumm oder nicht stumm</translation>
    </message>
    <message>
        <source>Talk, while it is held</source>
        <translation>Sprechen, solange sie gehalten wird</translation>
    </message>
    <message>
        <source>Talking</source>
        <translation>Sprechen</translation>
    </message>
    <message>
        <source>While another window has the keyboard</source>
        <translation>Während ein anderes Fenster die Tastatur hat</translation>
    </message>
</context>
<context>
    <name>Panels</name>
    <message>
        <source>Automatic</source>
        <translation>Automatisch</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Protokoll</translation>
    </message>
</context>
<context>
    <name>Panes</name>
    <message>
        <source>&amp;Conversations</source>
        <translation>Ge&amp;spräche</translation>
    </message>
    <message>
        <source>&amp;Inspector</source>
        <translation>&amp;Inspektor</translation>
    </message>
    <message>
        <source>&amp;Oracle</source>
        <translation>&amp;Orakel</translation>
    </message>
</context>
<context>
    <name>PlacePanel</name>
    <message>
        <source>API key</source>
        <translation>API-Schlüssel</translation>
    </message>
    <message>
        <source>Address of the server</source>
        <translation>Adresse des Servers</translation>
    </message>
    <message>
        <source>Co&amp;nnect</source>
        <translation>Ver&amp;binden</translation>
    </message>
    <message>
        <source>Connect</source>
        <translation>Verbinden</translation>
    </message>
    <message>
        <source>Connect to {0}</source>
        <translation>Mit {0} verbinden</translation>
    </message>
    <message>
        <source>Connecting …</source>
        <translation>Verbinde …</translation>
    </message>
    <message>
        <source>Key for {0}</source>
        <translation>Schlüssel für {0}</translation>
    </message>
    <message>
        <source>State of the connection</source>
        <translation>Stand der Verbindung</translation>
    </message>
    <message>
        <source>There is no key yet. Copy one from your account at the provider, and paste it here.</source>
        <translation>Es gibt noch keinen Schlüssel. Kopiere einen aus deinem Konto beim Anbieter und füge ihn hier ein.</translation>
    </message>
    <message>
        <source>This is not a server&apos;s address. Type it like 127.0.0.1:8080 or https://host/v1.</source>
        <translation>Das ist keine Serveradresse. Schreibe sie wie 127.0.0.1:8080 oder https://host/v1.</translation>
    </message>
    <message>
        <source>key, if it wants one</source>
        <translation>Schlüssel, falls er einen will</translation>
    </message>
    <message>
        <source>paste a key</source>
        <translation>Schlüssel einfügen</translation>
    </message>
</context>
<context>
    <name>PortalHotkeys</name>
    <message>
        <source>Mute the microphone for KAME</source>
        <translation>Mikrofon für KAME stummschalten</translation>
    </message>
    <message>
        <source>Talk to KAME</source>
        <translation>Mit KAME sprechen</translation>
    </message>
    <message>
        <source>The desktop did not answer when asked for hotkeys, so there are none.</source>
        <translation>Der Desktop hat auf die Bitte um Tastenkürzel nicht geantwortet, deshalb gibt es keine.</translation>
    </message>
    <message>
        <source>The desktop ended the app&apos;s hotkeys, so there are none any more.</source>
        <translation>Der Desktop hat die Tastenkürzel der App beendet, deshalb gibt es keine mehr.</translation>
    </message>
    <message>
        <source>The desktop gave “{0}” no key. Choose one in its settings for keyboard shortcuts.</source>
        <translation>Der Desktop hat „{0}“ keine Taste gegeben. Wähle eine in seinen Einstellungen für Tastenkürzel.</translation>
    </message>
    <message>
        <source>The desktop refuses this app hotkeys ({0}), so there are none.</source>
        <translation>Der Desktop verweigert dieser App Tastenkürzel ({0}), deshalb gibt es keine.</translation>
    </message>
    <message>
        <source>The desktop&apos;s dialog for hotkeys was cancelled, so there are none.</source>
        <translation>Der Dialog des Desktops für Tastenkürzel wurde abgebrochen, deshalb gibt es keine.</translation>
    </message>
    <message>
        <source>This desktop offers programs no hotkeys, so there are none.</source>
        <translation>Dieser Desktop bietet Programmen keine Tastenkürzel, deshalb gibt es keine.</translation>
    </message>
</context>
<context>
    <name>PriceTable</name>
    <message>
        <source>A price of “{0}” is missing. Enter it, or remove the row.</source>
        <translation>Ein Preis von „{0}“ fehlt. Trag ihn ein oder entferne die Zeile.</translation>
    </message>
    <message>
        <source>A row names no model. Enter one, or remove the row.</source>
        <translation>Eine Zeile nennt kein Modell. Trag eins ein oder entferne die Zeile.</translation>
    </message>
    <message>
        <source>Cached input</source>
        <translation>Eingabe aus dem Cache</translation>
    </message>
    <message>
        <source>Input</source>
        <translation>Eingabe</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Output</source>
        <translation>Ausgabe</translation>
    </message>
    <message>
        <source>The model&apos;s name. Its dated versions cost the same, unless they have a row of their own.</source>
        <translation>Der Name des Modells. Seine Versionen mit Datum kosten dasselbe, wenn sie keine eigene Zeile haben.</translation>
    </message>
    <message>
        <source>US dollars per million tokens of input from the server&apos;s cache; empty: the same as input.</source>
        <translation>US-Dollar pro Million Token Eingabe aus dem Cache des Servers; leer: wie Eingabe.</translation>
    </message>
    <message>
        <source>US dollars per million tokens of input.</source>
        <translation>US-Dollar pro Million Token Eingabe.</translation>
    </message>
    <message>
        <source>US dollars per million tokens of output.</source>
        <translation>US-Dollar pro Million Token Ausgabe.</translation>
    </message>
    <message>
        <source>Yours; the app has no price for it.</source>
        <translation>Deiner; die App hat keinen Preis dafür.</translation>
    </message>
    <message>
        <source>Yours; the app has other prices for it.</source>
        <translation>Deiner; die App hat andere Preise dafür.</translation>
    </message>
    <message>
        <source>Yours; the app&apos;s is {0}.</source>
        <translation>Deiner; der der App ist {0}.</translation>
    </message>
    <message>
        <source>as input</source>
        <translation>wie Eingabe</translation>
    </message>
    <message>
        <source>“{0}” is below zero. Enter the price without the sign.</source>
        <translation>„{0}“ ist kleiner als null. Gib den Preis ohne Vorzeichen ein.</translation>
    </message>
    <message>
        <source>“{0}” is in the table already. Change that row, and remove this one.</source>
        <translation>„{0}“ steht schon in der Tabelle. Ändere jene Zeile und entferne diese.</translation>
    </message>
    <message>
        <source>“{0}” is not a price. Enter dollars as a number, like 2.50.</source>
        <translation>„{0}“ ist kein Preis. Gib Dollar als Zahl ein, etwa 2,50.</translation>
    </message>
</context>
<context>
    <name>PriceView</name>
    <message>
        <source>The table&apos;s columns</source>
        <translation>Die Spalten der Tabelle</translation>
    </message>
</context>
<context>
    <name>PricesDialog</name>
    <message>
        <source>&amp;Add a model</source>
        <translation>&amp;Modell hinzufügen</translation>
    </message>
    <message>
        <source>&amp;Back to the app&apos;s price</source>
        <translation>&amp;Zurück zum Preis der App</translation>
    </message>
    <message>
        <source>&amp;Remove</source>
        <translation>&amp;Entfernen</translation>
    </message>
    <message>
        <source>&amp;Save</source>
        <translation>&amp;Speichern</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>If you save here, a new one is written, and a copy of the old one is kept.</source>
        <translation>Wenn du hier speicherst, wird eine neue geschrieben und eine Kopie der alten aufgehoben.</translation>
    </message>
    <message>
        <source>Prices</source>
        <translation>Preise</translation>
    </message>
    <message>
        <source>Prices, in US dollars per million tokens</source>
        <translation>Preise, in US-Dollar pro Million Token</translation>
    </message>
    <message>
        <source>Remove the model</source>
        <translation>Modell entfernen</translation>
    </message>
    <message>
        <source>The app&apos;s prices are those that the providers listed when this version was made. Check them with the provider: prices change.</source>
        <translation>Die Preise der App sind die der Anbieter, als diese Version entstand. Prüfe sie beim Anbieter: Preise ändern sich.</translation>
    </message>
    <message>
        <source>US dollars per million tokens. Your own prices are in bold.</source>
        <translation>US-Dollar pro Million Token. Deine eigenen Preise stehen fett.</translation>
    </message>
    <message>
        <source>What can&apos;t be saved</source>
        <translation>Was sich nicht speichern lässt</translation>
    </message>
    <message>
        <source>What is wrong with your price table</source>
        <translation>Was an deiner Preistabelle nicht stimmt</translation>
    </message>
</context>
<context>
    <name>ProcessingBox</name>
    <message>
        <source>&amp;Echo cancellation</source>
        <translation>&amp;Echounterdrückung</translation>
    </message>
    <message>
        <source>&amp;Noise suppression</source>
        <translation>&amp;Rauschunterdrückung</translation>
    </message>
    <message>
        <source>Automatic &amp;gain</source>
        <translation>Automatische &amp;Verstärkung</translation>
    </message>
    <message>
        <source>Makes a quiet voice louder, and everything else that can be heard with it.</source>
        <translation>Macht eine leise Stimme lauter, und alles andere, was zu hören ist, mit ihr.</translation>
    </message>
    <message>
        <source>Removes steady noise, such as a fan&apos;s; a voice may lose some brightness.</source>
        <translation>Entfernt gleichmäßiges Rauschen, etwa das eines Lüfters; eine Stimme kann dabei etwas an Klarheit verlieren.</translation>
    </message>
    <message>
        <source>Removes the app&apos;s own voice, so that you can interrupt it while using loudspeakers.</source>
        <translation>Entfernt die Stimme der App, damit du ihr auch bei Lautsprechern ins Wort fallen kannst.</translation>
    </message>
</context>
<context>
    <name>PullBox</name>
    <message>
        <source>&amp;Download</source>
        <translation>&amp;Herunterladen</translation>
    </message>
    <message>
        <source>Download a model</source>
        <translation>Ein Modell herunterladen</translation>
    </message>
    <message>
        <source>Download of the model</source>
        <translation>Herunterladen des Modells</translation>
    </message>
    <message>
        <source>Download the model</source>
        <translation>Modell herunterladen</translation>
    </message>
    <message>
        <source>Model to download</source>
        <translation>Modell zum Herunterladen</translation>
    </message>
    <message>
        <source>Requesting {0} …</source>
        <translation>{0} wird angefragt …</translation>
    </message>
    <message>
        <source>State of the download</source>
        <translation>Stand des Herunterladens</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Stopp</translation>
    </message>
    <message>
        <source>Stop the download</source>
        <translation>Das Herunterladen anhalten</translation>
    </message>
    <message>
        <source>Stopped. What has been downloaded is kept: download it again to continue.</source>
        <translation>Angehalten. Was heruntergeladen ist, bleibt: Lade es noch einmal herunter, um fortzufahren.</translation>
    </message>
    <message>
        <source>model to download, such as gemma3:4b</source>
        <translation>Modell zum Herunterladen, etwa gemma3:4b</translation>
    </message>
    <message>
        <source>{0} is on the server.</source>
        <translation>{0} ist auf dem Server.</translation>
    </message>
</context>
<context>
    <name>RequestsPage</name>
    <message>
        <source>&amp;Copy as text</source>
        <translation>Als Text &amp;kopieren</translation>
    </message>
    <message>
        <source>1 request</source>
        <translation>1 Anfrage</translation>
    </message>
    <message>
        <source>Asked</source>
        <translation>Gefragt</translation>
    </message>
    <message>
        <source>Columns of the requests</source>
        <translation>Spalten der Anfragen</translation>
    </message>
    <message>
        <source>Copy the requests as text</source>
        <translation>Die Anfragen als Text kopieren</translation>
    </message>
    <message>
        <source>Cost</source>
        <translation>Kosten</translation>
    </message>
    <message>
        <source>End</source>
        <translation>Ende</translation>
    </message>
    <message>
        <source>First words</source>
        <translation>Erste Worte</translation>
    </message>
    <message>
        <source>From the request to the first words of the answer.</source>
        <translation>Von der Anfrage bis zu den ersten Worten der Antwort.</translation>
    </message>
    <message>
        <source>How many of your words the model had when it was asked.</source>
        <translation>Wie viele deiner Wörter das Modell kannte, als es gefragt wurde.</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>No requests yet.</source>
        <translation>Noch keine Anfragen.</translation>
    </message>
    <message>
        <source>No.</source>
        <translation>Nr.</translation>
    </message>
    <message>
        <source>Requests of this conversation</source>
        <translation>Anfragen dieses Gesprächs</translation>
    </message>
    <message>
        <source>The number of words in the answer.</source>
        <translation>Die Zahl der Wörter der Antwort.</translation>
    </message>
    <message>
        <source>The selected lines, or all, with tabs between the columns.</source>
        <translation>Die gewählten Zeilen oder alle, mit Tabulatoren zwischen den Spalten.</translation>
    </message>
    <message>
        <source>Tokens in</source>
        <translation>Tokens ein</translation>
    </message>
    <message>
        <source>Tokens out</source>
        <translation>Tokens aus</translation>
    </message>
    <message>
        <source>Turn</source>
        <translation>Beitrag</translation>
    </message>
    <message>
        <source>Words</source>
        <translation>Worte</translation>
    </message>
    <message>
        <source>compared</source>
        <translation>verglichen</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>fehlgeschlagen</translation>
    </message>
    <message>
        <source>not spoken</source>
        <translation>nicht gesprochen</translation>
    </message>
    <message>
        <source>partly spoken</source>
        <translation>teils gesprochen</translation>
    </message>
    <message>
        <source>replaced</source>
        <translation>ersetzt</translation>
    </message>
    <message>
        <source>spoken</source>
        <translation>gesprochen</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>abgebrochen</translation>
    </message>
    <message>
        <source>waiting</source>
        <translation>wartet</translation>
    </message>
    <message>
        <source>writing</source>
        <translation>schreibt</translation>
    </message>
    <message>
        <source>{0} requests</source>
        <translation>{0} Anfragen</translation>
    </message>
    <message>
        <source>“≈” marks estimates: the server did not report a count.</source>
        <translation>„≈“ steht vor Schätzungen: Der Server hat keine Zahl genannt.</translation>
    </message>
</context>
<context>
    <name>ResetBar</name>
    <message>
        <source>&amp;Keep them</source>
        <translation>&amp;Behalten</translation>
    </message>
    <message>
        <source>&amp;Reset all…</source>
        <translation>&amp;Alle zurücksetzen…</translation>
    </message>
    <message>
        <source>&amp;Reset them</source>
        <translation>&amp;Zurücksetzen</translation>
    </message>
    <message>
        <source>&amp;Undo</source>
        <translation>&amp;Rückgängig</translation>
    </message>
    <message>
        <source>Changes take effect at once, unless it says otherwise.</source>
        <translation>Änderungen wirken sofort, wenn nichts anderes dabeisteht.</translation>
    </message>
    <message>
        <source>Effect of changes</source>
        <translation>Wirkung von Änderungen</translation>
    </message>
    <message>
        <source>Keep the settings as they are</source>
        <translation>Die Einstellungen lassen, wie sie sind</translation>
    </message>
    <message>
        <source>Reset all settings</source>
        <translation>Alle Einstellungen zurücksetzen</translation>
    </message>
    <message>
        <source>Reset all settings now</source>
        <translation>Alle Einstellungen jetzt zurücksetzen</translation>
    </message>
    <message>
        <source>Settings that are back at their defaults: {0}.</source>
        <translation>Auf die Vorgabe zurückgesetzt: {0}.</translation>
    </message>
    <message>
        <source>Settings that are not at their defaults: {0}. Reset them?</source>
        <translation>Einstellungen, die nicht auf der Vorgabe stehen: {0}. Zurücksetzen?</translation>
    </message>
    <message>
        <source>Undo the reset</source>
        <translation>Zurücksetzen rückgängig machen</translation>
    </message>
</context>
<context>
    <name>RowTexts</name>
    <message>
        <source>, with sound</source>
        <translation>, mit Ton</translation>
    </message>
    <message>
        <source>1 conversation</source>
        <translation>1 Gespräch</translation>
    </message>
    <message>
        <source>1 turn</source>
        <translation>1 Redebeitrag</translation>
    </message>
    <message>
        <source>Earlier</source>
        <translation>Früher</translation>
    </message>
    <message>
        <source>Folder {0}</source>
        <translation>Ordner {0}</translation>
    </message>
    <message>
        <source>Last 30 days</source>
        <translation>Letzte 30 Tage</translation>
    </message>
    <message>
        <source>Last 7 days</source>
        <translation>Letzte 7 Tage</translation>
    </message>
    <message>
        <source>Pinned</source>
        <translation>Angeheftet</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>Heute</translation>
    </message>
    <message>
        <source>Today {0}</source>
        <translation>Heute, {0}</translation>
    </message>
    <message>
        <source>Untitled</source>
        <translation>Ohne Titel</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>Gestern</translation>
    </message>
    <message>
        <source>Yesterday {0}</source>
        <translation>Gestern, {0}</translation>
    </message>
    <message>
        <source>closed</source>
        <translation>geschlossen</translation>
    </message>
    <message>
        <source>d MMMM</source>
        <translation>d. MMMM</translation>
    </message>
    <message>
        <source>d MMMM yyyy</source>
        <translation>d. MMMM yyyy</translation>
    </message>
    <message>
        <source>open</source>
        <translation>geöffnet</translation>
    </message>
    <message>
        <source>pinned</source>
        <translation>angeheftet</translation>
    </message>
    <message>
        <source>running</source>
        <translation>läuft</translation>
    </message>
    <message>
        <source>{0} conversations</source>
        <translation>{0} Gespräche</translation>
    </message>
    <message>
        <source>{0} turns</source>
        <translation>{0} Redebeiträge</translation>
    </message>
</context>
<context>
    <name>Sentence</name>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
</context>
<context>
    <name>ServerForm</name>
    <message>
        <source>&amp;Command</source>
        <translation>&amp;Befehl</translation>
    </message>
    <message>
        <source>&amp;Compare with it</source>
        <translation>&amp;Damit vergleichen</translation>
    </message>
    <message>
        <source>&amp;Name</source>
        <translation>&amp;Name</translation>
    </message>
    <message>
        <source>&amp;Remove server</source>
        <translation>Server &amp;entfernen</translation>
    </message>
    <message>
        <source>&amp;Test connection</source>
        <translation>Verbindung &amp;testen</translation>
    </message>
    <message>
        <source>&amp;Use this model</source>
        <translation>Dieses Modell ver&amp;wenden</translation>
    </message>
    <message>
        <source>A&amp;ddress</source>
        <translation>&amp;Adresse</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>Adresse</translation>
    </message>
    <message>
        <source>Ar&amp;guments</source>
        <translation>Ar&amp;gumente</translation>
    </message>
    <message>
        <source>Arguments</source>
        <translation>Argumente</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>Befehl</translation>
    </message>
    <message>
        <source>It answers next to the model that speaks.</source>
        <translation>Es antwortet neben dem Modell, das spricht.</translation>
    </message>
    <message>
        <source>It is</source>
        <translation>Er ist</translation>
    </message>
    <message>
        <source>Its tools</source>
        <translation>Seine Werkzeuge</translation>
    </message>
    <message>
        <source>Kind: a program on this machine</source>
        <translation>Art: ein Programm auf diesem Rechner</translation>
    </message>
    <message>
        <source>Kind: an address</source>
        <translation>Art: eine Adresse</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>Name of the server</source>
        <translation>Name des Servers</translation>
    </message>
    <message>
        <source>Notes about this server</source>
        <translation>Hinweise zu diesem Server</translation>
    </message>
    <message>
        <source>Remove the server</source>
        <translation>Server entfernen</translation>
    </message>
    <message>
        <source>Result of the test</source>
        <translation>Ergebnis des Tests</translation>
    </message>
    <message>
        <source>Test connection</source>
        <translation>Verbindung testen</translation>
    </message>
    <message>
        <source>Testing {0} …</source>
        <translation>{0} wird getestet …</translation>
    </message>
    <message>
        <source>The conversation continues with it.</source>
        <translation>Das Gespräch geht mit ihm weiter.</translation>
    </message>
    <message>
        <source>a &amp;program on this machine</source>
        <translation>ein P&amp;rogramm auf diesem Rechner</translation>
    </message>
    <message>
        <source>a word, such as weather</source>
        <translation>ein Wort, etwa wetter</translation>
    </message>
    <message>
        <source>an addr&amp;ess</source>
        <translation>eine A&amp;dresse</translation>
    </message>
    <message>
        <source>name, as you like</source>
        <translation>Name, wie du möchtest</translation>
    </message>
    <message>
        <source>one on each line, without quotes</source>
        <translation>eins pro Zeile, ohne Anführungszeichen</translation>
    </message>
    <message>
        <source>such as https://example.org/mcp</source>
        <translation>etwa https://example.org/mcp</translation>
    </message>
    <message>
        <source>the program alone, such as npx</source>
        <translation>nur das Programm, etwa npx</translation>
    </message>
</context>
<context>
    <name>ServersDialog</name>
    <message>
        <source>&amp;Add</source>
        <translation>&amp;Hinzufügen</translation>
    </message>
    <message>
        <source>&amp;Remove</source>
        <translation>&amp;Entfernen</translation>
    </message>
    <message>
        <source>&amp;Save</source>
        <translation>&amp;Speichern</translation>
    </message>
    <message>
        <source>&amp;Test</source>
        <translation>&amp;Testen</translation>
    </message>
    <message>
        <source>(no name yet)</source>
        <translation>(noch kein Name)</translation>
    </message>
    <message>
        <source>Add a server</source>
        <translation>Server hinzufügen</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>It is switched off in the list&apos;s file (“disabled”), and stays so.</source>
        <translation>Er ist in der Datei der Liste abgeschaltet („disabled“) und bleibt es.</translation>
    </message>
    <message>
        <source>Its arguments hold empty lines or line breaks: change them in the list&apos;s file.</source>
        <translation>Seine Argumente enthalten Leerzeilen oder Zeilenumbrüche: Ändere sie in der Datei der Liste.</translation>
    </message>
    <message>
        <source>Its variables in the list&apos;s file stay as they are: {0}.</source>
        <translation>Seine Variablen in der Datei der Liste bleiben, wie sie sind: {0}.</translation>
    </message>
    <message>
        <source>Programs and addresses that offer tools (MCP). They run only in a conversation that uses them.</source>
        <translation>Programme und Adressen, die Werkzeuge bieten (MCP). Sie laufen nur in einem Gespräch, das sie benutzt.</translation>
    </message>
    <message>
        <source>Remove the server</source>
        <translation>Server entfernen</translation>
    </message>
    <message>
        <source>Result of the test, or what can&apos;t be saved</source>
        <translation>Ergebnis des Tests, oder was sich nicht speichern lässt</translation>
    </message>
    <message>
        <source>S&amp;top</source>
        <translation>Sto&amp;pp</translation>
    </message>
    <message>
        <source>Servers</source>
        <translation>Server</translation>
    </message>
    <message>
        <source>Starts or requests it, and ends it again. The first time, that may take a minute.</source>
        <translation>Startet ihn oder fragt ihn an und beendet ihn wieder. Beim ersten Mal kann das eine Minute dauern.</translation>
    </message>
    <message>
        <source>Stop testing</source>
        <translation>Test abbrechen</translation>
    </message>
    <message>
        <source>Stopped.</source>
        <translation>Abgebrochen.</translation>
    </message>
    <message>
        <source>Test the server</source>
        <translation>Server testen</translation>
    </message>
    <message>
        <source>Testing “{0}” …</source>
        <translation>„{0}“ wird getestet …</translation>
    </message>
    <message>
        <source>The server</source>
        <translation>Der Server</translation>
    </message>
    <message>
        <source>Then open this dialog again.</source>
        <translation>Öffne dann diesen Dialog noch einmal.</translation>
    </message>
    <message>
        <source>Tool servers</source>
        <translation>Werkzeugserver</translation>
    </message>
    <message>
        <source>What is wrong with the list</source>
        <translation>Was an der Liste nicht stimmt</translation>
    </message>
    <message>
        <source>{0} · not used</source>
        <translation>{0} · nicht benutzt</translation>
    </message>
    <message>
        <source>{0} · switched off</source>
        <translation>{0} · abgeschaltet</translation>
    </message>
</context>
<context>
    <name>SessionManager</name>
    <message>
        <source>The conversation could not start because of a bug in KAME ({0}).</source>
        <translation>Das Gespräch konnte wegen eines Programmfehlers in KAME nicht beginnen ({0}).</translation>
    </message>
    <message>
        <source>The log has the details.</source>
        <translation>Näheres steht im Protokoll.</translation>
    </message>
</context>
<context>
    <name>SessionMessages</name>
    <message>
        <source>Choose another…</source>
        <translation>Anderes wählen…</translation>
    </message>
    <message>
        <source>Download…</source>
        <translation>Herunterladen…</translation>
    </message>
    <message>
        <source>Enter key…</source>
        <translation>Schlüssel eingeben…</translation>
    </message>
    <message>
        <source>Key and server of the comparison model</source>
        <translation>Schlüssel und Server des Vergleichsmodells</translation>
    </message>
    <message>
        <source>Key and server…</source>
        <translation>Schlüssel und Server …</translation>
    </message>
    <message>
        <source>Show log</source>
        <translation>Protokoll zeigen</translation>
    </message>
    <message>
        <source>The comparison model: {0}</source>
        <translation>Das Vergleichsmodell: {0}</translation>
    </message>
    <message>
        <source>The window could not show something ({0}); the conversation continues.</source>
        <translation>Das Fenster konnte etwas nicht zeigen ({0}); das Gespräch geht weiter.</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Noch einmal</translation>
    </message>
    <message>
        <source>Use the talk button</source>
        <translation>Sprechtaste benutzen</translation>
    </message>
</context>
<context>
    <name>SessionModel</name>
    <message>
        <source>loading: {0}</source>
        <translation>lädt: {0}</translation>
    </message>
    <message>
        <source>model</source>
        <translation>Sprachmodell</translation>
    </message>
    <message>
        <source>speech recognition</source>
        <translation>Spracherkennung</translation>
    </message>
    <message>
        <source>voice</source>
        <translation>Stimme</translation>
    </message>
</context>
<context>
    <name>SessionStarter</name>
    <message>
        <source>It brings documents: {0}.</source>
        <translation>Es bringt Dokumente mit: {0}.</translation>
    </message>
    <message>
        <source>It has instructions for the model: “{0}”</source>
        <translation>Es hat Anweisungen für das Modell: „{0}“</translation>
    </message>
    <message>
        <source>The model of this conversation, {0}, is not known here; {1} answers instead.</source>
        <translation>Das Modell dieses Gesprächs, {0}, ist hier nicht bekannt; stattdessen antwortet {1}.</translation>
    </message>
    <message>
        <source>This conversation came with a file. {0} That is used only if you want it.</source>
        <translation>Dieses Gespräch kam mit einer Datei. {0} Das wird nur verwendet, wenn du es willst.</translation>
    </message>
    <message>
        <source>Use it</source>
        <translation>Verwenden</translation>
    </message>
    <message>
        <source>looking for microphones and loudspeakers</source>
        <translation>Mikrofone und Lautsprecher werden gesucht</translation>
    </message>
</context>
<context>
    <name>SettingRow</name>
    <message>
        <source>Back to the default: {0}</source>
        <translation>Zurück zur Vorgabe: {0}</translation>
    </message>
    <message>
        <source>Reset: {0}</source>
        <translation>Zurücksetzen: {0}</translation>
    </message>
    <message>
        <source>Restarts a running conversation.</source>
        <translation>Startet ein laufendes Gespräch neu.</translation>
    </message>
    <message>
        <source>Takes effect at the next start of KAME.</source>
        <translation>Wirkt ab dem nächsten Start von KAME.</translation>
    </message>
    <message>
        <source>Takes effect with the next conversation.</source>
        <translation>Wirkt ab dem nächsten Gespräch.</translation>
    </message>
    <message>
        <source>Why the input is invalid: {0}</source>
        <translation>Warum die Eingabe ungültig ist: {0}</translation>
    </message>
</context>
<context>
    <name>SettingsArea</name>
    <message>
        <source>Found for “{0}”</source>
        <translation>Gefunden für „{0}“</translation>
    </message>
    <message>
        <source>Nothing found for “{0}”.</source>
        <translation>Nichts gefunden zu „{0}“.</translation>
    </message>
    <message>
        <source>Page</source>
        <translation>Seite</translation>
    </message>
</context>
<context>
    <name>SettingsController</name>
    <message>
        <source>The settings could not be saved ({0}); they hold until you close the window.</source>
        <translation>Die Einstellungen konnten nicht gespeichert werden ({0}); sie gelten, bis du das Fenster schließt.</translation>
    </message>
</context>
<context>
    <name>SettingsDialog</name>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Close this dialog</source>
        <translation>Diesen Dialog schließen</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>Search the settings</source>
        <translation>Einstellungen durchsuchen</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Settings shown</source>
        <translation>Gezeigte Einstellungen</translation>
    </message>
</context>
<context>
    <name>ShortcutSheet</name>
    <message>
        <source>All keys</source>
        <translation>Alle Tasten</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>Tasten</translation>
    </message>
    <message>
        <source>Open the &amp;guide</source>
        <translation>&amp;Anleitung öffnen</translation>
    </message>
</context>
<context>
    <name>SideView</name>
    <message>
        <source>listens</source>
        <translation>hört zu</translation>
    </message>
    <message>
        <source>speaks</source>
        <translation>spricht</translation>
    </message>
    <message>
        <source>thinks</source>
        <translation>denkt</translation>
    </message>
    <message>
        <source>{0} s</source>
        <translation>{0} s</translation>
    </message>
    <message>
        <source>{0} seconds</source>
        <translation>{0} Sekunden</translation>
    </message>
</context>
<context>
    <name>SoundController</name>
    <message>
        <source>Choose the microphone…</source>
        <translation>Mikrofon wählen…</translation>
    </message>
    <message>
        <source>Nothing was heard twice in a row. Check that the right microphone is chosen and its level.</source>
        <translation>Zweimal nacheinander wurde nichts gehört. Prüfe, ob das richtige Mikrofon gewählt ist, und seinen Pegel.</translation>
    </message>
    <message>
        <source>Unmute</source>
        <translation>Stummschaltung aufheben</translation>
    </message>
</context>
<context>
    <name>SoundDialog</name>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Close this dialog</source>
        <translation>Diesen Dialog schließen</translation>
    </message>
    <message>
        <source>Devices</source>
        <translation>Geräte</translation>
    </message>
    <message>
        <source>Measured in this conversation</source>
        <translation>In diesem Gespräch gemessen</translation>
    </message>
    <message>
        <source>Processing of the microphone&apos;s sound</source>
        <translation>Verarbeitung des Mikrofontons</translation>
    </message>
    <message>
        <source>Sound</source>
        <translation>Ton</translation>
    </message>
    <message>
        <source>Talk button</source>
        <translation>Sprechtaste</translation>
    </message>
</context>
<context>
    <name>SoundTestResult</name>
    <message>
        <source>Good: loud enough, and clear.</source>
        <translation>Gut: laut genug und klar.</translation>
    </message>
    <message>
        <source>How the test goes</source>
        <translation>Wie der Test läuft</translation>
    </message>
    <message>
        <source>Noise almost drowns out your voice: move closer, find its source, or switch noise suppression on.</source>
        <translation>Rauschen übertönt fast deine Stimme: Geh näher heran, such die Ursache oder schalte die Rauschunterdrückung ein.</translation>
    </message>
    <message>
        <source>Nothing at all came from “{0}”. Check that it is not muted, by its own switch or in the system&apos;s sound settings, and that it is the right one.</source>
        <translation>Von „{0}“ kam gar nichts. Sieh nach, ob es stumm geschaltet ist, durch einen eigenen Schalter oder in den Toneinstellungen des Systems, und ob es das richtige ist.</translation>
    </message>
    <message>
        <source>Too loud, so that the sound is cut off: move away a little, or lower the microphone&apos;s level in the system&apos;s sound settings.</source>
        <translation>Zu laut, der Ton wird abgeschnitten: Geh etwas weiter weg oder senke den Pegel des Mikrofons in den Toneinstellungen des Systems.</translation>
    </message>
    <message>
        <source>Too quiet: move closer, or raise the microphone&apos;s level in the system&apos;s sound settings.</source>
        <translation>Zu leise: Geh näher heran oder erhöhe den Pegel des Mikrofons in den Toneinstellungen des Systems.</translation>
    </message>
    <message>
        <source>Understood: “{0}”</source>
        <translation>Verstanden: „{0}“</translation>
    </message>
    <message>
        <source>What the test found</source>
        <translation>Was der Test ergeben hat</translation>
    </message>
    <message>
        <source>You were heard, but no words were understood. The app&apos;s speech recognition knows English.</source>
        <translation>Du warst zu hören, aber es wurden keine Worte verstanden. Die Spracherkennung der App kann Englisch.</translation>
    </message>
    <message>
        <source>loudest {0} dB</source>
        <translation>höchstens {0} dB</translation>
    </message>
    <message>
        <source>noise {0} dB</source>
        <translation>Rauschen {0} dB</translation>
    </message>
    <message>
        <source>speech {0} dB</source>
        <translation>Sprache {0} dB</translation>
    </message>
    <message>
        <source>“{0}” works, but nobody spoke. Try again, and speak while it listens.</source>
        <translation>„{0}“ funktioniert, aber niemand hat gesprochen. Versuch es noch einmal und sprich, während zugehört wird.</translation>
    </message>
</context>
<context>
    <name>SoundTests</name>
    <message>
        <source>Done</source>
        <translation>Fertig</translation>
    </message>
    <message>
        <source>If you heard nothing: turn the loudspeaker up, or choose another one in the window.</source>
        <translation>Wenn du nichts gehört hast: Stell den Lautsprecher lauter oder wähle im Fenster einen anderen.</translation>
    </message>
    <message>
        <source>Listening. Say something, as you would in a conversation.</source>
        <translation>Ich höre zu. Sag etwas, wie du es in einem Gespräch sagen würdest.</translation>
    </message>
    <message>
        <source>Loudspeaker level, dB</source>
        <translation>Pegel des Lautsprechers, dB</translation>
    </message>
    <message>
        <source>Microphone level, dB</source>
        <translation>Pegel des Mikrofons, dB</translation>
    </message>
    <message>
        <source>Opening the microphone …</source>
        <translation>Das Mikrofon wird geöffnet …</translation>
    </message>
    <message>
        <source>Play a so&amp;und</source>
        <translation>&amp;Ton abspielen</translation>
    </message>
    <message>
        <source>Play it &amp;back</source>
        <translation>&amp;Anhören</translation>
    </message>
    <message>
        <source>Plays the microphone&apos;s recording, before any processing, on the loudspeaker.</source>
        <translation>Spielt die Aufnahme des Mikrofons, vor jeder Verarbeitung, über den Lautsprecher ab.</translation>
    </message>
    <message>
        <source>Plays two tones and a sentence in the app&apos;s voice.</source>
        <translation>Spielt zwei Töne und einen Satz in der Stimme der App ab.</translation>
    </message>
    <message>
        <source>Say &amp;something</source>
        <translation>Etwas sa&amp;gen</translation>
    </message>
    <message>
        <source>Stop playing back</source>
        <translation>Wiedergabe anhalten</translation>
    </message>
    <message>
        <source>Stop the sound</source>
        <translation>Ton anhalten</translation>
    </message>
    <message>
        <source>The system&apos;s default</source>
        <translation>Die Systemvorgabe</translation>
    </message>
    <message>
        <source>This is what the microphone recorded.</source>
        <translation>Das hat das Mikrofon aufgenommen.</translation>
    </message>
    <message>
        <source>Transcribing what you said …</source>
        <translation>Was du gesagt hast, wird in Text umgewandelt …</translation>
    </message>
    <message>
        <source>You should hear two tones now, and then a voice.</source>
        <translation>Jetzt solltest du zwei Töne hören und dann eine Stimme.</translation>
    </message>
</context>
<context>
    <name>StageTable</name>
    <message>
        <source>95 %</source>
        <translation>95 %</translation>
    </message>
    <message>
        <source>Last</source>
        <translation>Letzte</translation>
    </message>
    <message>
        <source>Median</source>
        <translation>Median</translation>
    </message>
    <message>
        <source>Slowest</source>
        <translation>Längste</translation>
    </message>
    <message>
        <source>Stage</source>
        <translation>Abschnitt</translation>
    </message>
    <message>
        <source>Stages</source>
        <translation>Abschnitte</translation>
    </message>
    <message>
        <source>Stages may overlap: together they may take longer than this.</source>
        <translation>Abschnitte können sich überlappen: Zusammen können sie länger dauern als das hier.</translation>
    </message>
    <message>
        <source>This one</source>
        <translation>Diese</translation>
    </message>
    <message>
        <source>Total wait</source>
        <translation>Gesamte Wartezeit</translation>
    </message>
</context>
<context>
    <name>StatusLine</name>
    <message>
        <source>, 1 cut short</source>
        <translation>, 1 abgebrochen</translation>
    </message>
    <message>
        <source>, {0} cut short</source>
        <translation>, {0} abgebrochen</translation>
    </message>
    <message>
        <source>1 request</source>
        <translation>1 Anfrage</translation>
    </message>
    <message>
        <source>First word after {0} s</source>
        <translation>Erstes Wort nach {0} s</translation>
    </message>
    <message>
        <source>First word after {0} s ({1} s for a model that failed)</source>
        <translation>Erstes Wort nach {0} s ({1} s für ein ausgefallenes Modell)</translation>
    </message>
    <message>
        <source>First word {0} s before you ended</source>
        <translation>Erstes Wort {0} s, bevor du fertig warst</translation>
    </message>
    <message>
        <source>Getting ready ({0})</source>
        <translation>Macht sich bereit ({0})</translation>
    </message>
    <message>
        <source>Inspector</source>
        <translation>Inspektor</translation>
    </message>
    <message>
        <source>No answer yet</source>
        <translation>Noch keine Antwort</translation>
    </message>
    <message>
        <source>Running</source>
        <translation>Läuft</translation>
    </message>
    <message>
        <source>Running: {0}</source>
        <translation>Läuft: {0}</translation>
    </message>
    <message>
        <source>Shows the latency in the inspector.</source>
        <translation>Zeigt die Latenz im Inspektor.</translation>
    </message>
    <message>
        <source>Spending limit: {0} of {1}; {2}</source>
        <translation>Ausgabengrenze: {0} von {1}; {2}</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>Beendet</translation>
    </message>
    <message>
        <source>The requests to the models, and what they cost, are counted here.</source>
        <translation>Die Anfragen an die Sprachmodelle und was sie kosten werden hier gezählt.</translation>
    </message>
    <message>
        <source>Usage of this conversation</source>
        <translation>Verbrauch dieses Gesprächs</translation>
    </message>
    <message>
        <source>all is well</source>
        <translation>alles in Ordnung</translation>
    </message>
    <message>
        <source>estimated</source>
        <translation>geschätzt</translation>
    </message>
    <message>
        <source>models that cost money are no longer asked</source>
        <translation>kostenpflichtige Sprachmodelle werden nicht mehr gefragt</translation>
    </message>
    <message>
        <source>more of unknown price</source>
        <translation>dazu unbekannte Preise</translation>
    </message>
    <message>
        <source>no price known</source>
        <translation>kein Preis bekannt</translation>
    </message>
    <message>
        <source>one moment</source>
        <translation>einen Moment</translation>
    </message>
    <message>
        <source>partly estimated</source>
        <translation>teils geschätzt</translation>
    </message>
    <message>
        <source>price unknown</source>
        <translation>Preis unbekannt</translation>
    </message>
    <message>
        <source>the model is asked less often</source>
        <translation>das Sprachmodell wird seltener gefragt</translation>
    </message>
    <message>
        <source>{0} cut short</source>
        <translation>{0} abgebrochen</translation>
    </message>
    <message>
        <source>{0} failed</source>
        <translation>{0} fehlgeschlagen</translation>
    </message>
    <message>
        <source>{0} from the cache</source>
        <translation>{0} aus dem Cache</translation>
    </message>
    <message>
        <source>{0} in, {1} out</source>
        <translation>{0} Eingabe, {1} Ausgabe</translation>
    </message>
    <message>
        <source>{0} requests</source>
        <translation>{0} Anfragen</translation>
    </message>
    <message>
        <source>{0} requests, of which {1} were cut short by a newer one</source>
        <translation>{0} Anfragen, davon {1} von einer neueren abgebrochen</translation>
    </message>
    <message>
        <source>{0} tokens</source>
        <translation>{0} Token</translation>
    </message>
    <message>
        <source>{0} tokens in, {1} out</source>
        <translation>{0} Token Eingabe, {1} Ausgabe</translation>
    </message>
    <message>
        <source>{0} · 1 gap in the sound</source>
        <translation>{0} · 1 Aussetzer im Ton</translation>
    </message>
    <message>
        <source>{0} · median {1} s · 95 % {2} s</source>
        <translation>{0} · Median {1} s · 95 % {2} s</translation>
    </message>
    <message>
        <source>{0} · {1} gaps in the sound</source>
        <translation>{0} · {1} Aussetzer im Ton</translation>
    </message>
    <message>
        <source>{0}.
Click to see where the time went.</source>
        <translation>{0}.
Klicke, um zu sehen, wofür die Zeit verging.</translation>
    </message>
</context>
<context>
    <name>StyleDialog</name>
    <message>
        <source>&amp;Prices…</source>
        <translation>&amp;Preise…</translation>
    </message>
    <message>
        <source>&amp;Temperature</source>
        <translation>&amp;Temperatur</translation>
    </message>
    <message>
        <source>&amp;Use for this conversation</source>
        <translation>Für dieses Gespräch &amp;verwenden</translation>
    </message>
    <message>
        <source>&amp;long</source>
        <translation>&amp;lang</translation>
    </message>
    <message>
        <source>&amp;short</source>
        <translation>&amp;kurz</translation>
    </message>
    <message>
        <source>A few sentences.</source>
        <translation>Ein paar Sätze.</translation>
    </message>
    <message>
        <source>A sentence or two.</source>
        <translation>Ein, zwei Sätze.</translation>
    </message>
    <message>
        <source>Also for new conversations</source>
        <translation>Auch für neue Gespräche</translation>
    </message>
    <message>
        <source>Answers</source>
        <translation>Antworten</translation>
    </message>
    <message>
        <source>As many as it takes.</source>
        <translation>So viele wie nötig.</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Close this dialog</source>
        <translation>Diesen Dialog schließen</translation>
    </message>
    <message>
        <source>How freely it chooses its words: 0 sober and the same each time, 2 wild.</source>
        <translation>Wie frei es seine Worte wählt: 0 nüchtern und jedes Mal gleich, 2 wild.</translation>
    </message>
    <message>
        <source>Length of answers</source>
        <translation>Länge der Antworten</translation>
    </message>
    <message>
        <source>Length: {0}</source>
        <translation>Länge: {0}</translation>
    </message>
    <message>
        <source>Near the limit, the model is asked less often; at the limit, models that cost money are no longer asked.</source>
        <translation>Nahe der Grenze wird das Modell seltener gefragt; an der Grenze werden Modelle, die Geld kosten, nicht mehr gefragt.</translation>
    </message>
    <message>
        <source>Persona</source>
        <translation>Persona</translation>
    </message>
    <message>
        <source>Prices</source>
        <translation>Preise</translation>
    </message>
    <message>
        <source>Spen&amp;ding limit</source>
        <translation>Ausgaben&amp;grenze</translation>
    </message>
    <message>
        <source>Spending limit in dollars</source>
        <translation>Ausgabengrenze in Dollar</translation>
    </message>
    <message>
        <source>Style and tools</source>
        <translation>Stil und Werkzeuge</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>Temperatur</translation>
    </message>
    <message>
        <source>The model&apos;s own temperature</source>
        <translation>Vom Modell vorgegebene Temperatur</translation>
    </message>
    <message>
        <source>The price of this model is not known, so the limit has no effect. Enter its price.</source>
        <translation>Der Preis dieses Modells ist nicht bekannt, also wirkt die Grenze nicht. Trag seinen Preis ein.</translation>
    </message>
    <message>
        <source>Tools that the model may use</source>
        <translation>Werkzeuge, die das Modell benutzen darf</translation>
    </message>
    <message>
        <source>V&amp;oice</source>
        <translation>&amp;Stimme</translation>
    </message>
    <message>
        <source>Voice</source>
        <translation>Stimme</translation>
    </message>
    <message>
        <source>What models cost. Costs are counted by this table.</source>
        <translation>Was Modelle kosten. Nach dieser Tabelle wird gerechnet.</translation>
    </message>
    <message>
        <source>Who answers</source>
        <translation>Wer antwortet</translation>
    </message>
    <message>
        <source>Who answers, in your words: “You are a patient teacher of physics.” Empty: KAME as it is, friendly and brief.</source>
        <translation>Wer antwortet, in deinen Worten: „Du bist eine geduldige Physiklehrerin.“ Leer: KAME, wie es ist, freundlich und knapp.</translation>
    </message>
    <message>
        <source>Who speaks in this conversation. KAME and Moshi keep their own voice.</source>
        <translation>Wer in diesem Gespräch spricht. KAME und Moshi behalten ihre eigene Stimme.</translation>
    </message>
    <message>
        <source>also for &amp;new conversations</source>
        <translation>auch für &amp;neue Gespräche</translation>
    </message>
    <message>
        <source>default voice</source>
        <translation>Standardstimme</translation>
    </message>
    <message>
        <source>m&amp;edium</source>
        <translation>&amp;mittel</translation>
    </message>
    <message>
        <source>no limit</source>
        <translation>keine Grenze</translation>
    </message>
    <message>
        <source>the &amp;model&apos;s own</source>
        <translation>Vorgabe des M&amp;odells</translation>
    </message>
    <message>
        <source>{0} (not on this machine)</source>
        <translation>{0} (nicht auf diesem Rechner)</translation>
    </message>
    <message>
        <source>{0} (speaks another language)</source>
        <translation>{0} (spricht eine andere Sprache)</translation>
    </message>
</context>
<context>
    <name>Switch</name>
    <message>
        <source>off</source>
        <translation>aus</translation>
    </message>
    <message>
        <source>on</source>
        <translation>an</translation>
    </message>
</context>
<context>
    <name>SystemController</name>
    <message>
        <source>Open the page</source>
        <translation>Seite öffnen</translation>
    </message>
    <message>
        <source>This build of KAME has no address to ask.</source>
        <translation>Diese Ausgabe von KAME hat keine Adresse zum Fragen.</translation>
    </message>
    <message>
        <source>This copy of KAME can&apos;t be started at login.</source>
        <translation>Diese Kopie von KAME lässt sich nicht beim Anmelden starten.</translation>
    </message>
    <message>
        <source>This could not be changed ({0}).</source>
        <translation>Das ließ sich nicht ändern ({0}).</translation>
    </message>
</context>
<context>
    <name>TalkButtonBox</name>
    <message>
        <source>&amp;Mute</source>
        <translation>Stu&amp;mm</translation>
    </message>
    <message>
        <source>&amp;Talk</source>
        <translation>&amp;Sprechen</translation>
    </message>
    <message>
        <source>&amp;hold it while you talk</source>
        <translation>beim Sprechen gedrückt &amp;halten</translation>
    </message>
    <message>
        <source>In your system&apos;s own keyboard settings, you can assign these commands to keys:</source>
        <translation>In den Tastatureinstellungen deines Systems kannst du Tasten mit diesen Befehlen belegen:</translation>
    </message>
    <message>
        <source>Keys that your desktop uses</source>
        <translation>Tasten, die dein Desktop verwendet</translation>
    </message>
    <message>
        <source>Keys to mute</source>
        <translation>Tasten zum Stummschalten</translation>
    </message>
    <message>
        <source>Keys to talk</source>
        <translation>Tasten zum Sprechen</translation>
    </message>
    <message>
        <source>Talk button: hold it while you talk</source>
        <translation>Sprechtaste: beim Sprechen gedrückt halten</translation>
    </message>
    <message>
        <source>Talk button: press it once to talk, and once to end</source>
        <translation>Sprechtaste: einmal drücken zum Sprechen, einmal zum Beenden</translation>
    </message>
    <message>
        <source>These keys work while another window has the keyboard:</source>
        <translation>Diese Tasten wirken, während ein anderes Fenster die Tastatur hat:</translation>
    </message>
    <message>
        <source>Trouble with the keys</source>
        <translation>Probleme mit den Tasten</translation>
    </message>
    <message>
        <source>Why these keys can&apos;t be used</source>
        <translation>Warum diese Tasten nicht gehen</translation>
    </message>
    <message>
        <source>Your desktop uses: {0}</source>
        <translation>Dein Desktop verwendet: {0}</translation>
    </message>
    <message>
        <source>mutes the microphone, and the next time unmutes it</source>
        <translation>schaltet das Mikrofon stumm und beim nächsten Mal wieder ein</translation>
    </message>
    <message>
        <source>press it &amp;once to talk, and once to end</source>
        <translation>einmal &amp;drücken zum Sprechen, einmal zum Beenden</translation>
    </message>
    <message>
        <source>starts your turn, and the next time ends it</source>
        <translation>beginnt deinen Redebeitrag und beendet ihn beim nächsten Mal</translation>
    </message>
    <message>
        <source>starts your turn, for a key that can run one command when it goes down …</source>
        <translation>beginnt deinen Redebeitrag, für eine Taste, die beim Drücken einen Befehl ausführen kann …</translation>
    </message>
    <message>
        <source>{0} to mute</source>
        <translation>{0} zum Stummschalten</translation>
    </message>
    <message>
        <source>{0} to talk</source>
        <translation>{0} zum Sprechen</translation>
    </message>
    <message>
        <source>“{0}” can&apos;t both talk and mute. Press other keys.</source>
        <translation>„{0}“ geht nicht zugleich fürs Sprechen und fürs Stummschalten. Drücke andere Tasten.</translation>
    </message>
    <message>
        <source>… and another when it goes up: this one ends your turn</source>
        <translation>… und einen anderen beim Loslassen: Dieser beendet deinen Redebeitrag</translation>
    </message>
</context>
<context>
    <name>TalkController</name>
    <message>
        <source>As before</source>
        <translation>Wie vorher</translation>
    </message>
    <message>
        <source>Hands-free is on, so there is no button to press: just talk.</source>
        <translation>Freisprechen ist an, es gibt also keine Taste zu drücken: Sprich einfach.</translation>
    </message>
    <message>
        <source>No conversation is running. Start a new one in KAME&apos;s window.</source>
        <translation>Es läuft kein Gespräch. Beginne ein neues im Fenster von KAME.</translation>
    </message>
    <message>
        <source>The conversation is still getting ready. Try again in a moment.</source>
        <translation>Das Gespräch wird noch vorbereitet. Versuch es gleich noch einmal.</translation>
    </message>
    <message>
        <source>The voice speaks at {0} % of its own pace from now on.</source>
        <translation>Die Stimme spricht ab jetzt mit {0} % ihres eigenen Tempos.</translation>
    </message>
    <message>
        <source>There is no microphone to talk into. Plug one in, or type.</source>
        <translation>Es gibt kein Mikrofon. Schließ eines an oder tippe.</translation>
    </message>
</context>
<context>
    <name>TalkDock</name>
    <message>
        <source>Asking aloud</source>
        <translation>Fragt laut</translation>
    </message>
    <message>
        <source>Enter sends your message</source>
        <translation>Eingabetaste sendet die Nachricht</translation>
    </message>
    <message>
        <source>Esc</source>
        <translation>Esc</translation>
    </message>
    <message>
        <source>Esc stops it</source>
        <translation>Esc beendet es</translation>
    </message>
    <message>
        <source>Getting ready</source>
        <translation>Wird vorbereitet</translation>
    </message>
    <message>
        <source>Hands-&amp;free</source>
        <translation>&amp;Freisprechen</translation>
    </message>
    <message>
        <source>Hands-free</source>
        <translation>Freisprechen</translation>
    </message>
    <message>
        <source>Hearing you</source>
        <translation>Hört dich</translation>
    </message>
    <message>
        <source>Hold to talk</source>
        <translation>Zum Sprechen halten</translation>
    </message>
    <message>
        <source>I heard nothing</source>
        <translation>Ich habe nichts gehört</translation>
    </message>
    <message>
        <source>Listening</source>
        <translation>Hört zu</translation>
    </message>
    <message>
        <source>Microphone and loudspeaker</source>
        <translation>Mikrofon und Lautsprecher</translation>
    </message>
    <message>
        <source>Muted</source>
        <translation>Stumm</translation>
    </message>
    <message>
        <source>No microphone</source>
        <translation>Kein Mikrofon</translation>
    </message>
    <message>
        <source>Playing again</source>
        <translation>Spielt noch einmal</translation>
    </message>
    <message>
        <source>Press to talk</source>
        <translation>Zum Sprechen drücken</translation>
    </message>
    <message>
        <source>Speaking</source>
        <translation>Spricht</translation>
    </message>
    <message>
        <source>Stop speaking</source>
        <translation>Nicht weitersprechen</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>Beendet</translation>
    </message>
    <message>
        <source>Talk</source>
        <translation>Gespräch</translation>
    </message>
    <message>
        <source>Talk without the button: your voice starts and ends your turns, and may interrupt an answer.</source>
        <translation>Sprich ohne Taste: Deine Stimme beginnt und beendet Redebeiträge und darf einer Antwort ins Wort fallen.</translation>
    </message>
    <message>
        <source>Thinking</source>
        <translation>Denkt nach</translation>
    </message>
    <message>
        <source>Trying out</source>
        <translation>Wird getestet</translation>
    </message>
    <message>
        <source>check the microphone</source>
        <translation>prüfe das Mikrofon</translation>
    </message>
    <message>
        <source>hold to talk</source>
        <translation>zum Sprechen halten</translation>
    </message>
    <message>
        <source>keep it down while you speak</source>
        <translation>gedrückt halten, solange du sprichst</translation>
    </message>
    <message>
        <source>kept; {0}</source>
        <translation>behalten; {0}</translation>
    </message>
    <message>
        <source>let go when you are done</source>
        <translation>loslassen, wenn du fertig bist</translation>
    </message>
    <message>
        <source>not part of the conversation</source>
        <translation>nicht Teil des Gesprächs</translation>
    </message>
    <message>
        <source>nothing you say is heard</source>
        <translation>nichts, was du sagst, wird gehört</translation>
    </message>
    <message>
        <source>or hold the space bar</source>
        <translation>oder Leertaste halten</translation>
    </message>
    <message>
        <source>or press the space bar</source>
        <translation>oder Leertaste drücken</translation>
    </message>
    <message>
        <source>press again when you are done</source>
        <translation>noch einmal, wenn du fertig bist</translation>
    </message>
    <message>
        <source>press to continue</source>
        <translation>zum Fortsetzen drücken</translation>
    </message>
    <message>
        <source>press to talk</source>
        <translation>zum Sprechen drücken</translation>
    </message>
    <message>
        <source>speak when you like</source>
        <translation>sprich, wann du magst</translation>
    </message>
    <message>
        <source>speak while the button is down</source>
        <translation>sprich, solange der Knopf gedrückt ist</translation>
    </message>
    <message>
        <source>type, or plug one in</source>
        <translation>tippe, oder stecke eins ein</translation>
    </message>
    <message>
        <source>you are muted</source>
        <translation>du bist stumm</translation>
    </message>
</context>
<context>
    <name>ThoughtCard</name>
    <message>
        <source>The answer that counts now</source>
        <translation>Die Antwort, die jetzt gilt</translation>
    </message>
    <message>
        <source>What the model thinks appears here while you still speak, and is revised with every few words.</source>
        <translation>Hier erscheint, was das Modell denkt, während du noch sprichst; alle paar Worte denkt es neu.</translation>
    </message>
</context>
<context>
    <name>TimelinePage</name>
    <message>
        <source>+</source>
        <translation>+</translation>
    </message>
    <message>
        <source>Export image</source>
        <translation>Bild exportieren</translation>
    </message>
    <message>
        <source>Export image…</source>
        <translation>Bild exportieren…</translation>
    </message>
    <message>
        <source>Follow</source>
        <translation>Folgen</translation>
    </message>
    <message>
        <source>Follow the conversation again (P)</source>
        <translation>Dem Gespräch wieder folgen (P)</translation>
    </message>
    <message>
        <source>Last 30 s</source>
        <translation>Letzte 30 s</translation>
    </message>
    <message>
        <source>Models by colour</source>
        <translation>Modelle nach Farbe</translation>
    </message>
    <message>
        <source>PNG image (*.png)</source>
        <translation>PNG-Bild (*.png)</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>Pause the timeline (P)</source>
        <translation>Zeitleiste anhalten (P)</translation>
    </message>
    <message>
        <source>Save what is in view as an image</source>
        <translation>Speichert, was zu sehen ist, als Bild</translation>
    </message>
    <message>
        <source>Show the last 30 seconds and follow</source>
        <translation>Die letzten 30 Sekunden zeigen und folgen</translation>
    </message>
    <message>
        <source>The image could not be saved ({0}). Choose another folder.</source>
        <translation>Das Bild konnte nicht gespeichert werden ({0}). Wähle einen anderen Ordner.</translation>
    </message>
    <message>
        <source>What is under the mouse</source>
        <translation>Was unter der Maus ist</translation>
    </message>
    <message>
        <source>Zoom in (+)</source>
        <translation>Vergrößern (+)</translation>
    </message>
    <message>
        <source>Zoom out (−)</source>
        <translation>Verkleinern (−)</translation>
    </message>
    <message>
        <source>timeline</source>
        <translation>zeitleiste</translation>
    </message>
    <message>
        <source>−</source>
        <translation>−</translation>
    </message>
</context>
<context>
    <name>TimelineView</name>
    <message>
        <source>Left and Right step through what happened. P pauses and follows, plus and minus zoom, Home and End go to the start and to now.</source>
        <translation>Links und Rechts gehen durch, was geschah. P hält an und folgt, Plus und Minus vergrößern und verkleinern, Pos1 und Ende gehen zum Anfang und zur Gegenwart.</translation>
    </message>
    <message>
        <source>Timeline</source>
        <translation>Zeitleiste</translation>
    </message>
</context>
<context>
    <name>TimelineWords</name>
    <message>
        <source>1 word</source>
        <translation>1 Wort</translation>
    </message>
    <message>
        <source>Comparison</source>
        <translation>Vergleich</translation>
    </message>
    <message>
        <source>Comparison: {0}</source>
        <translation>Vergleich: {0}</translation>
    </message>
    <message>
        <source>Errors</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>Final transcript at {0}: “{1}”</source>
        <translation>Endgültige Erkennung um {0}: „{1}“</translation>
    </message>
    <message>
        <source>KAME</source>
        <translation>KAME</translation>
    </message>
    <message>
        <source>KAME has been speaking since {0}: “{2}”</source>
        <translation>KAME spricht seit {0}: „{2}“</translation>
    </message>
    <message>
        <source>KAME spoke from {0} to {1}: “{2}”</source>
        <translation>KAME sprach von {0} bis {1}: „{2}“</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Oracle</source>
        <translation>Orakel</translation>
    </message>
    <message>
        <source>Thought {0}, {1}: asked on {2} at {3}</source>
        <translation>Gedanke {0}, {1}: gefragt um {3} ({2})</translation>
    </message>
    <message>
        <source>Transcript at {0}: “{1}”</source>
        <translation>Erkennung um {0}: „{1}“</translation>
    </message>
    <message>
        <source>Transcript at {0}: “{1}”; may still change: “{2}”</source>
        <translation>Erkennung um {0}: „{1}“; kann sich noch ändern: „{2}“</translation>
    </message>
    <message>
        <source>Words</source>
        <translation>Worte</translation>
    </message>
    <message>
        <source>You</source>
        <translation>Du</translation>
    </message>
    <message>
        <source>You acknowledged at {0}: “{2}”</source>
        <translation>Du hast um {0} bestätigt: „{2}“</translation>
    </message>
    <message>
        <source>You have been speaking since {0}: “{2}”</source>
        <translation>Du sprichst seit {0}: „{2}“</translation>
    </message>
    <message>
        <source>You spoke from {0} to {1}: “{2}”</source>
        <translation>Du sprachst von {0} bis {1}: „{2}“</translation>
    </message>
    <message>
        <source>You typed at {0}: “{2}”</source>
        <translation>Du hast um {0} getippt: „{2}“</translation>
    </message>
    <message>
        <source>a newer thought was requested</source>
        <translation>ein neuerer Gedanke war angefragt</translation>
    </message>
    <message>
        <source>all was said</source>
        <translation>alles war gesagt</translation>
    </message>
    <message>
        <source>at {0} it spoke: {1}</source>
        <translation>sprach ab {0}: {1}</translation>
    </message>
    <message>
        <source>at {0} it waited: {1}</source>
        <translation>wartete ab {0}: {1}</translation>
    </message>
    <message>
        <source>cancelled for a newer one</source>
        <translation>zugunsten einer neueren abgebrochen</translation>
    </message>
    <message>
        <source>complete after {0}</source>
        <translation>vollständig nach {0}</translation>
    </message>
    <message>
        <source>continued with {0} at {1}</source>
        <translation>um {1} mit {0} fortgesetzt</translation>
    </message>
    <message>
        <source>corrected by {0} at {1}</source>
        <translation>um {1} von {0} berichtigt</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>fehlgeschlagen</translation>
    </message>
    <message>
        <source>first words after {0}</source>
        <translation>erste Worte nach {0}</translation>
    </message>
    <message>
        <source>interrupted</source>
        <translation>unterbrochen</translation>
    </message>
    <message>
        <source>it paused to listen to you</source>
        <translation>es hielt inne, um dir zuzuhören</translation>
    </message>
    <message>
        <source>it went on with its answer</source>
        <translation>die Antwort ging weiter</translation>
    </message>
    <message>
        <source>no model had been asked</source>
        <translation>es war noch kein Modell gefragt</translation>
    </message>
    <message>
        <source>no second thought confirmed the first</source>
        <translation>kein zweiter Gedanke bestätigte den ersten</translation>
    </message>
    <message>
        <source>no words</source>
        <translation>keine Worte</translation>
    </message>
    <message>
        <source>no words yet after {0}</source>
        <translation>noch keine Worte nach {0}</translation>
    </message>
    <message>
        <source>replaced by {0} at {1}</source>
        <translation>um {1} durch {0} ersetzt</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>abgebrochen</translation>
    </message>
    <message>
        <source>the answer before had begun with an opening</source>
        <translation>die vorige Antwort hatte mit einem Füllsatz begonnen</translation>
    </message>
    <message>
        <source>the answer was due</source>
        <translation>die Antwort war gleich fällig</translation>
    </message>
    <message>
        <source>the complete turn</source>
        <translation>ganzer Beitrag</translation>
    </message>
    <message>
        <source>the model didn&apos;t know your complete turn</source>
        <translation>das Modell kannte deinen Beitrag noch nicht ganz</translation>
    </message>
    <message>
        <source>the model had sent no words</source>
        <translation>das Modell hatte noch nichts gesendet</translation>
    </message>
    <message>
        <source>the model knew your complete turn</source>
        <translation>das Modell kannte deinen ganzen Beitrag</translation>
    </message>
    <message>
        <source>the model was still thinking</source>
        <translation>das Modell dachte noch nach</translation>
    </message>
    <message>
        <source>the newest thought answered another turn</source>
        <translation>der neueste Gedanke galt einem anderen Beitrag</translation>
    </message>
    <message>
        <source>the newest thought answered other words</source>
        <translation>der neueste Gedanke galt anderen Worten</translation>
    </message>
    <message>
        <source>the next clause was being synthesised</source>
        <translation>der nächste Satzteil wurde noch erzeugt</translation>
    </message>
    <message>
        <source>the next clause wasn&apos;t complete</source>
        <translation>der nächste Satzteil war noch nicht vollständig</translation>
    </message>
    <message>
        <source>took over at {0}</source>
        <translation>hat um {0} übernommen</translation>
    </message>
    <message>
        <source>two thoughts began alike</source>
        <translation>zwei Gedanken begannen gleich</translation>
    </message>
    <message>
        <source>two thoughts repeated your question alike</source>
        <translation>zwei Gedanken wiederholten deine Frage gleich</translation>
    </message>
    <message>
        <source>you had chosen this model</source>
        <translation>du hattest dieses Modell gewählt</translation>
    </message>
    <message>
        <source>you interrupted it</source>
        <translation>du hast es unterbrochen</translation>
    </message>
    <message>
        <source>your words were a complete question</source>
        <translation>deine Worte waren eine vollständige Frage</translation>
    </message>
    <message>
        <source>{0} words</source>
        <translation>{0} Wörter</translation>
    </message>
    <message>
        <source>{0}: a frame was late by {1} ms</source>
        <translation>{0}: ein Frame kam {1} ms zu spät</translation>
    </message>
    <message>
        <source>{0}: frames dropped to catch up with the microphone: {1}</source>
        <translation>{0}: ausgelassene Frames, um zum Mikrofon aufzuschließen: {1}</translation>
    </message>
    <message>
        <source>{0}: frames lost by the microphone: {1}</source>
        <translation>{0}: vom Mikrofon verlorene Frames: {1}</translation>
    </message>
    <message>
        <source>{0}: gaps in the sound, as the loudspeaker had nothing to play: {1}</source>
        <translation>{0}: Aussetzer im Ton, weil der Lautsprecher nichts abzuspielen hatte: {1}</translation>
    </message>
    <message>
        <source>{0}: switched to {1}</source>
        <translation>{0}: zu {1} gewechselt</translation>
    </message>
    <message>
        <source>{0}: the voice engine {1} listens and speaks from here on</source>
        <translation>{0}: von hier an hört und spricht das Sprachmodul {1}</translation>
    </message>
    <message>
        <source>{0}: the voice took token {1} of thought {2}, {3} are waiting</source>
        <translation>{0}: die Stimme nahm Token {1} von Gedanke {2}, {3} warten</translation>
    </message>
    <message>
        <source>{0}: updates skipped because speech recognition fell behind: {1}</source>
        <translation>{0}: Durchgänge, die die Spracherkennung im Rückstand ausließ: {1}</translation>
    </message>
    <message>
        <source>{0}: you at {1} dB, KAME at {2} dB</source>
        <translation>{0}: du bei {1} dB, KAME bei {2} dB</translation>
    </message>
    <message>
        <source>{0}: {1} answers from here on</source>
        <translation>{0}: von hier an antwortet {1}</translation>
    </message>
    <message>
        <source>{0}: {1} of thought {2} reached the voice after {3} ms</source>
        <translation>{0}: {1} von Gedanke {2} kamen nach {3} ms bei der Stimme an</translation>
    </message>
    <message>
        <source>{0}: {1} takes over from the model that failed</source>
        <translation>{0}: {1} übernimmt von dem Modell, das ausfiel</translation>
    </message>
    <message>
        <source>{0}: {2}</source>
        <translation>{0}: {2}</translation>
    </message>
</context>
<context>
    <name>ToolsBox</name>
    <message>
        <source>&amp;Remove</source>
        <translation>Ent&amp;fernen</translation>
    </message>
    <message>
        <source>A folder that may be read</source>
        <translation>Ein Ordner, der gelesen werden darf</translation>
    </message>
    <message>
        <source>A tool server.</source>
        <translation>Ein Werkzeugserver.</translation>
    </message>
    <message>
        <source>Add a folder</source>
        <translation>Ordner hinzufügen</translation>
    </message>
    <message>
        <source>Add fol&amp;der…</source>
        <translation>Ordner &amp;hinzufügen…</translation>
    </message>
    <message>
        <source>Add, test and remove servers that offer tools (MCP).</source>
        <translation>Server, die Werkzeuge bieten (MCP), hinzufügen, testen und entfernen.</translation>
    </message>
    <message>
        <source>C&amp;alculator</source>
        <translation>Taschen&amp;rechner</translation>
    </message>
    <message>
        <source>Cloc&amp;k</source>
        <translation>&amp;Uhr</translation>
    </message>
    <message>
        <source>F&amp;iles</source>
        <translation>&amp;Dateien</translation>
    </message>
    <message>
        <source>Folders that may be read</source>
        <translation>Ordner, die gelesen werden dürfen</translation>
    </message>
    <message>
        <source>It is not in the list of tool servers, or can&apos;t be used: switch it off, or add it.</source>
        <translation>Er steht nicht in der Liste der Werkzeugserver oder lässt sich nicht benutzen: Schalte ihn ab oder füge ihn hinzu.</translation>
    </message>
    <message>
        <source>It may read what is in these folders:</source>
        <translation>Es darf lesen, was in diesen Ordnern ist:</translation>
    </message>
    <message>
        <source>Reads files in the folders that you allow; it changes none.</source>
        <translation>Liest Dateien in den Ordnern, die du erlaubst; es ändert keine.</translation>
    </message>
    <message>
        <source>Remove the folder</source>
        <translation>Ordner entfernen</translation>
    </message>
    <message>
        <source>Tells the time and the date.</source>
        <translation>Sagt Uhrzeit und Datum.</translation>
    </message>
    <message>
        <source>Tool ser&amp;vers…</source>
        <translation>Werkzeu&amp;gserver…</translation>
    </message>
    <message>
        <source>Tool servers</source>
        <translation>Werkzeugserver</translation>
    </message>
    <message>
        <source>Tool: {0}</source>
        <translation>Werkzeug: {0}</translation>
    </message>
    <message>
        <source>Works sums out.</source>
        <translation>Rechnet Aufgaben aus.</translation>
    </message>
    <message>
        <source>{0} (MCP)</source>
        <translation>{0} (MCP)</translation>
    </message>
    <message>
        <source>{0} (MCP, not listed)</source>
        <translation>{0} (MCP, nicht gelistet)</translation>
    </message>
</context>
<context>
    <name>TopBar</name>
    <message>
        <source>Ctrl+N</source>
        <translation>Strg+N</translation>
    </message>
    <message>
        <source>Ends this conversation and begins a new one (Ctrl+N).</source>
        <translation>Beendet dieses Gespräch und beginnt ein neues (Strg+N).</translation>
    </message>
    <message>
        <source>Menu</source>
        <translation>Menü</translation>
    </message>
    <message>
        <source>New conversation</source>
        <translation>Neues Gespräch</translation>
    </message>
    <message>
        <source>Oracle</source>
        <translation>Orakel</translation>
    </message>
    <message>
        <source>Sidebar</source>
        <translation>Seitenleiste</translation>
    </message>
    <message>
        <source>What the model thinks while you speak (Ctrl+2).</source>
        <translation>Was das Modell denkt, während du sprichst (Strg+2).</translation>
    </message>
</context>
<context>
    <name>TranscriptCards</name>
    <message>
        <source>   interrupted</source>
        <translation>   unterbrochen</translation>
    </message>
    <message>
        <source>   typed</source>
        <translation>   getippt</translation>
    </message>
    <message>
        <source>Earlier turns are too many to be shown here. Export the conversation to read them.</source>
        <translation>Die früheren Beiträge sind zu viele, um sie hier zu zeigen. Exportiere das Gespräch, um sie zu lesen.</translation>
    </message>
    <message>
        <source>KAME</source>
        <translation>KAME</translation>
    </message>
    <message>
        <source>Now answering: {0}</source>
        <translation>Jetzt antwortet: {0}</translation>
    </message>
    <message>
        <source>Switched to {0}</source>
        <translation>Zu {0} gewechselt</translation>
    </message>
    <message>
        <source>You</source>
        <translation>Du</translation>
    </message>
    <message>
        <source>You, in passing</source>
        <translation>Du, nebenbei</translation>
    </message>
    <message>
        <source>after “… {0}”</source>
        <translation>nach „… {0}“</translation>
    </message>
    <message>
        <source>after ▸</source>
        <translation>danach ▸</translation>
    </message>
    <message>
        <source>changed its mind {0} times</source>
        <translation>hat {0}-mal umgedacht</translation>
    </message>
    <message>
        <source>knew it {0} s before you finished</source>
        <translation>wusste es {0} s, bevor du fertig warst</translation>
    </message>
    <message>
        <source>show its thoughts</source>
        <translation>Gedanken zeigen</translation>
    </message>
    <message>
        <source>{0} takes over</source>
        <translation>{0} übernimmt</translation>
    </message>
    <message>
        <source>{0} takes over again</source>
        <translation>{0} übernimmt wieder</translation>
    </message>
    <message>
        <source>{0} took over after {1} s</source>
        <translation>{0} übernahm nach {1} s</translation>
    </message>
    <message>
        <source>◂ before</source>
        <translation>◂ davor</translation>
    </message>
</context>
<context>
    <name>TranscriptHeader</name>
    <message>
        <source>Conversation</source>
        <translation>Gespräch</translation>
    </message>
    <message>
        <source>Settings of the conversation</source>
        <translation>Einstellungen des Gesprächs</translation>
    </message>
    <message>
        <source>Style and tools of the conversation</source>
        <translation>Stil und Werkzeuge des Gesprächs</translation>
    </message>
    <message>
        <source>The persona, the length of answers, the tools, and the cost limit.</source>
        <translation>Die Persona, die Länge der Antworten, die Werkzeuge und die Kostengrenze.</translation>
    </message>
    <message>
        <source>at most {0}</source>
        <translation>höchstens {0}</translation>
    </message>
    <message>
        <source>long answers</source>
        <translation>lange Antworten</translation>
    </message>
    <message>
        <source>own persona</source>
        <translation>eigene Persona</translation>
    </message>
    <message>
        <source>own voice</source>
        <translation>eigene Stimme</translation>
    </message>
    <message>
        <source>short answers</source>
        <translation>kurze Antworten</translation>
    </message>
    <message>
        <source>temperature {0}</source>
        <translation>Temperatur {0}</translation>
    </message>
</context>
<context>
    <name>TranscriptPane</name>
    <message>
        <source>&amp;Ask this again</source>
        <translation>&amp;Erneut fragen</translation>
    </message>
    <message>
        <source>&amp;Copy the selection</source>
        <translation>&amp;Auswahl kopieren</translation>
    </message>
    <message>
        <source>&amp;Edit and ask</source>
        <translation>&amp;Bearbeiten und fragen</translation>
    </message>
    <message>
        <source>&amp;Find…</source>
        <translation>&amp;Suchen…</translation>
    </message>
    <message>
        <source>&amp;Hear it again</source>
        <translation>Noch einmal an&amp;hören</translation>
    </message>
    <message>
        <source>&amp;Read on</source>
        <translation>&amp;Weiterlesen</translation>
    </message>
    <message>
        <source>&amp;Show its thoughts</source>
        <translation>Gedanken &amp;zeigen</translation>
    </message>
    <message>
        <source>Ask with another &amp;model…</source>
        <translation>Mit anderem &amp;Modell fragen…</translation>
    </message>
    <message>
        <source>Conversation</source>
        <translation>Gespräch</translation>
    </message>
    <message>
        <source>Copy the &amp;whole conversation</source>
        <translation>Ganzes &amp;Gespräch kopieren</translation>
    </message>
    <message>
        <source>Copy this &amp;turn</source>
        <translation>&amp;Redebeitrag kopieren</translation>
    </message>
    <message>
        <source>Go to the newest</source>
        <translation>Zum Neuesten</translation>
    </message>
    <message>
        <source>KAME</source>
        <translation>KAME</translation>
    </message>
    <message>
        <source>Say it more s&amp;lowly</source>
        <translation>&amp;Langsamer sagen</translation>
    </message>
    <message>
        <source>Shows the version after it, and what followed.</source>
        <translation>Zeigt die Fassung danach und was darauf folgte.</translation>
    </message>
    <message>
        <source>Shows the version before it, and what followed.</source>
        <translation>Zeigt die Fassung davor und was darauf folgte.</translation>
    </message>
    <message>
        <source>Shows what the model would have answered while you spoke.</source>
        <translation>Zeigt, was das Modell geantwortet hätte, während du sprachst.</translation>
    </message>
    <message>
        <source>The &amp;version after</source>
        <translation>Die Fassung &amp;danach</translation>
    </message>
    <message>
        <source>The version &amp;before</source>
        <translation>Die Fassung da&amp;vor</translation>
    </message>
    <message>
        <source>You</source>
        <translation>Du</translation>
    </message>
</context>
<context>
    <name>Tray</name>
    <message>
        <source>&amp;Hide KAME</source>
        <translation>KAME &amp;verbergen</translation>
    </message>
    <message>
        <source>&amp;Mute the microphone</source>
        <translation>&amp;Mikrofon stummschalten</translation>
    </message>
    <message>
        <source>&amp;New conversation</source>
        <translation>&amp;Neues Gespräch</translation>
    </message>
    <message>
        <source>&amp;Quit KAME</source>
        <translation>KAME &amp;beenden</translation>
    </message>
    <message>
        <source>&amp;Show KAME</source>
        <translation>KAME &amp;zeigen</translation>
    </message>
    <message>
        <source>&amp;Talk</source>
        <translation>&amp;Sprechen</translation>
    </message>
    <message>
        <source>KAME</source>
        <translation>KAME</translation>
    </message>
    <message>
        <source>KAME – listening</source>
        <translation>KAME – hört zu</translation>
    </message>
    <message>
        <source>KAME – muted</source>
        <translation>KAME – stumm</translation>
    </message>
    <message>
        <source>KAME – speaking</source>
        <translation>KAME – spricht</translation>
    </message>
    <message>
        <source>KAME – thinking</source>
        <translation>KAME – denkt nach</translation>
    </message>
</context>
<context>
    <name>TrayController</name>
    <message>
        <source>KAME answers</source>
        <translation>KAME antwortet</translation>
    </message>
    <message>
        <source>KAME is still here</source>
        <translation>KAME ist noch da</translation>
    </message>
    <message>
        <source>The conversation continues. The menu of this icon shows the window again, or quits.</source>
        <translation>Das Gespräch geht weiter. Das Menü dieses Symbols zeigt das Fenster wieder oder beendet KAME.</translation>
    </message>
    <message>
        <source>This desktop has no tray for icons.</source>
        <translation>Dieser Desktop hat keinen Platz für Symbole.</translation>
    </message>
</context>
<context>
    <name>TurnActions</name>
    <message>
        <source>Ask again</source>
        <translation>Noch einmal fragen</translation>
    </message>
    <message>
        <source>Ask with another model</source>
        <translation>Mit anderem Modell fragen</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Edit and ask</source>
        <translation>Bearbeiten und fragen</translation>
    </message>
    <message>
        <source>Hear it again</source>
        <translation>Noch einmal hören</translation>
    </message>
    <message>
        <source>Read on</source>
        <translation>Weiterlesen</translation>
    </message>
    <message>
        <source>Say it more slowly</source>
        <translation>Langsamer sagen</translation>
    </message>
</context>
<context>
    <name>TurnCards</name>
    <message>
        <source>Continued, {0}</source>
        <translation>Fortgesetzt, {0}</translation>
    </message>
    <message>
        <source>New conversation, {0}</source>
        <translation>Neues Gespräch, {0}</translation>
    </message>
</context>
<context>
    <name>UndoBar</name>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>Undo the removal</source>
        <translation>Löschen rückgängig machen</translation>
    </message>
    <message>
        <source>{0} conversations removed.</source>
        <translation>{0} Gespräche gelöscht.</translation>
    </message>
    <message>
        <source>“{0}” removed.</source>
        <translation>„{0}“ gelöscht.</translation>
    </message>
</context>
<context>
    <name>Visitor</name>
    <message>
        <source>Ask it yourself</source>
        <translation>Frag selbst</translation>
    </message>
    <message>
        <source>Getting ready …</source>
        <translation>Wird vorbereitet …</translation>
    </message>
    <message>
        <source>Hold the space bar and ask.</source>
        <translation>Halte die Leertaste und frag.</translation>
    </message>
    <message>
        <source>Hold the space bar and ask. Press a digit in mid-sentence to change its mind.</source>
        <translation>Halte die Leertaste und frag. Drücke mitten im Satz eine Ziffer, um das Modell zu wechseln.</translation>
    </message>
    <message>
        <source>The tandem answers live. The cascade then gets the recording of your question, silently.</source>
        <translation>Das Tandem antwortet sofort. Die Kaskade bekommt danach still die Aufnahme deiner Frage.</translation>
    </message>
</context>
<context>
    <name>Welcome</name>
    <message>
        <source>Ask me anything.</source>
        <translation>Frag mich irgendetwas.</translation>
    </message>
    <message>
        <source>Ask: {0}</source>
        <translation>Fragen: {0}</translation>
    </message>
    <message>
        <source>Give me an idea for dinner tonight.</source>
        <translation>Gib mir eine Idee für das Abendessen.</translation>
    </message>
    <message>
        <source>How many days are there in a week?</source>
        <translation>Wie viele Tage hat eine Woche?</translation>
    </message>
    <message>
        <source>I start answering before you have finished.</source>
        <translation>Ich beginne zu antworten, bevor du fertig bist.</translation>
    </message>
    <message>
        <source>Welcome</source>
        <translation>Willkommen</translation>
    </message>
    <message>
        <source>What is the capital of Sweden?</source>
        <translation>Wie heißt die Hauptstadt von Schweden?</translation>
    </message>
    <message>
        <source>Why does the moon change its shape?</source>
        <translation>Warum ändert der Mond seine Form?</translation>
    </message>
</context>
<context>
    <name>WelcomeCards</name>
    <message>
        <source>&amp;Done</source>
        <translation>&amp;Fertig</translation>
    </message>
    <message>
        <source>Done: hide microphone and model</source>
        <translation>Fertig: Mikrofon und Modell ausblenden</translation>
    </message>
</context>
<context>
    <name>WindowParts</name>
    <message>
        <source>All models…</source>
        <translation>Alle Modelle…</translation>
    </message>
    <message>
        <source>KAME</source>
        <translation>KAME</translation>
    </message>
</context>
<context>
    <name>WindowsHotkeys</name>
    <message>
        <source>Windows refuses “{0}” as a hotkey (error {1}). Choose another.</source>
        <translation>Windows verweigert „{0}“ als Tastenkürzel (Fehler {1}). Wähle ein anderes.</translation>
    </message>
    <message>
        <source>“{0}” writes a character on your keyboard (AltGr). Choose other keys.</source>
        <translation>„{0}“ schreibt auf deiner Tastatur ein Zeichen (AltGr). Wähle andere Tasten.</translation>
    </message>
</context>
<context>
    <name>X11Hotkeys</name>
    <message>
        <source>The X server can&apos;t be asked for hotkeys ({0}), so they don&apos;t work.</source>
        <translation>Der X-Server lässt sich nicht um Tastenkürzel bitten ({0}), deshalb wirken sie nicht.</translation>
    </message>
</context>
</TS>
