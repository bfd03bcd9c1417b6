<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name></name>
    <message>
        <source>A few sentences</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A folder that holds the weights already; empty for the app&apos;s own downloads.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A mirror of the hub for downloads; empty for the hub itself.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A model elsewhere gets the words of a conversation.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A notification shows the first words of an answer while the window is hidden or minimised; never those of a conversation that is not kept. It needs the icon in the tray.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A sentence or two</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>API keys</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Accent</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Add MCP servers, whose tools a model may use.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Address of the other server</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Advanced</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Another server</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answer delay</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Anthropic</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Anthropic model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Any server that speaks the OpenAI protocol, like http://127.0.0.1:8080/v1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As long as it takes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Asks one address once a day which version is the newest. Nothing about you, this machine or this version is sent. Switched off, nobody is asked.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Automatic gain</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Blue</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Built in</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Built-in model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Built-in models</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>By how much KAME or Moshi hears you later than the transcriber does.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cap</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cascade</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Change persona, voice, length, tools and cap here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose which model answers which kind of question.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Closing the window hides it, and the conversation goes on. The menu of the icon shows it again, or quits.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Colours of models</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Commands like “{0} ptt toggle” can&apos;t reach this window ({1}). All else works; start the app again to try again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Comparison model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Conversations</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Dark</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Details of thoughts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Devices</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download language models that run on this machine.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download others, and see how fast they are here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Downloads</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Earlier thoughts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Echo cancellation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Embedded (this machine)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Embedded voice (CPU)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>English</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Essentials</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Favourite models</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>First run done</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Folders</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>French</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Front-end</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>General</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>German</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Google</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Google model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Graphite</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Green</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hands-free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hear voices, and download others.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>High contrast</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hold it while you talk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How fast the voice speaks, of its own pace.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How freely the model chooses its words: 0 is sober and the same each time, 2 is wild.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How large all text is, of the system&apos;s own size.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How long KAME or Moshi keeps silent after you have spoken.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How long KAME waits when you pause, before it takes your turn for finished: 0 answers soonest, 10 waits longest. It also learns how long your own pauses are.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How long answers are.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How loud the voice is, before the loudspeaker&apos;s own volume.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How many frames of 80 ms KAME or Moshi remembers.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How the talk button and its keys are used.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How the weights of KAME and Moshi are kept on the graphics card.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Icon in the tray</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It opened by itself.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Italian</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME (GPU): speaks while it thinks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME and Moshi</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME is running already, but its window did not answer. Wait a moment and start it again; if that does not help, end it in the system&apos;s list of programs first.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME starts when you log in: in the tray where its icon is switched on, else with its window minimised.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep conversations</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep recordings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keeps conversations on this machine: what was said, not its sound.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keys everywhere</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Language</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Language of conversations</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Length</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Light</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Light or dark colours, or black and white with strong contrast.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Like the system</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Look at this machine, and choose front-end and model.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Look for new versions</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loudspeaker</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Makes a quiet voice louder, and with it whatever else there is to hear.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Microphone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model and its key</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model on the other server</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Models and keys</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>More recognisers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>More voices</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Moshi</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Moshi (GPU): by itself, without a language model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mute hotkey</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mutes the microphone while another window has the keyboard; empty for none.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name of the comparison model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nano KAME</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nano KAME (CPU): an experiment</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New versions</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Noise suppression</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing slides, pulses or fades: what changes is there at once.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ollama</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ollama model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ollama server</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Only for this conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>OpenAI</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>OpenAI model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Openings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Oracle lead</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Orange</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Patience</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Persona</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Precision</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Press once to talk, once to end</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prices</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Privacy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Processing of the microphone&apos;s sound</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Recent commands</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reduced motion</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rose</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Router</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Router&apos;s table</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Router: by kind of question</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Saves the sound and the events of each conversation on this machine, too. Only then is any sound kept.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Say something, hear it again, and see what is measured.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Server of the comparison model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Set up KAME again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Shows whether KAME listens, speaks or is muted, and has a menu to talk and to mute.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sound</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Spanish</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Speaking rate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Speaking volume</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Speech recognition</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Spoken voice</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start and end</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start at login</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stay in the tray</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Table of the router</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Takes out what sounds on and on, such as a fan; a voice may lose some brightness.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Takes the app&apos;s own voice out of the microphone&apos;s sound, so that you can interrupt on loudspeakers.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Taking turns</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Talk button</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Talk hotkey</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Talks while another window has the keyboard; empty for none.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Teal</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tell of answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text size</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The address of the machine that hears and speaks for this one, such as ws://192.168.1.20:8998.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The app&apos;s own model that answers; empty for the best one that is here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The cascade says something short like “Let me think.” where its answer takes longer than half a second, or three quarters of one hands-free, since you may go on.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The colour of what is chosen, and of the main buttons.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The commands that were last used in the palette, as JSON.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The folders that the tool “files” may read, one a line.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The language of the window&apos;s words, not of the conversation.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model that hears you; empty for the app&apos;s choice for your language.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model whose answers are shown beside the spoken ones; empty for none.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model&apos;s name; empty for the default one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model&apos;s name; empty for the first one there.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model&apos;s name; empty for the server&apos;s first.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The models in the order of their colours, as JSON.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The models that are offered first, as JSON.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The oracle shows not only the answer that counts, but also those before it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The oracle shows what was asked, how fast each answer came, and what it cost.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The oracle was shown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The voice</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The voice that answers; empty for the app&apos;s choice for your language.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The voice that goes with the persona; empty for the spoken voice.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Theme</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tool servers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tools</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try them out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>US dollars that a conversation may cost. At the cap, models that cost money are not asked any more.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Violet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Voice</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Voice of new conversations</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Voice server</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Voice server (another machine)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Voice that answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Volume of the voice</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Weights mirror</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What hears and speaks. KAME and Moshi need a graphics card and weights to be downloaded. Nano KAME, which packages leave out, is an experiment that garbles most answers. A voice server is another machine that runs this app with “kame-desktop serve”, or a server of Moshi or KAME.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What is heard</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What models cost, by which the cap is reckoned.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What speaks to you. It can be changed in mid-conversation.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the model may use, one a line: calculator, clock, files, and mcp:NAME for an MCP server.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the program has noted, for when something goes wrong.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What you speak into. It can be changed in mid-conversation.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What you speak, and are answered in. KAME and Moshi speak English only. Only in English do your words tell when you have finished; in other languages the sound and the silence do.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>When I finish</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>When the model starts to work on the answer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where Ollama listens.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where it is; empty for the default address.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where they are kept, and how to forget them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where your words go</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Whether the app has introduced itself.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Which language model answers. The router chooses one by the kind of question.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Which model answers which kind of question, as JSON.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>While I speak</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Who answers, in your words: “You are a patient teacher of physics.” Empty for a friendly voice assistant.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Window language</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your voice alone starts and ends your turns, without the talk button.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>as many as fit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>bf16, for 24 GB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>frames</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>int4, for 8 GB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>int8, for 12 to 16 GB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no cap</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the model&apos;s own</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{0}” can&apos;t be a hotkey. Choose a letter, a digit or a function key, with Ctrl or Alt.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{0}” is needed in every program, so it can&apos;t be a hotkey. Choose other keys.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{0}” is not one key, so it can&apos;t be a hotkey. Choose a single combination.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{0}” is on the number pad, whose keys can&apos;t be hotkeys. Choose another key.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{0}” would be taken from every program, so it can&apos;t be a hotkey. Add Ctrl, Alt or both.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>AboutDialog</name>
    <message>
        <source>&amp;Back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Licences</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A voice assistant that talks while it thinks: a voice that answers at once, and behind it any language model, whose words reach the voice while it already speaks.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>About KAME</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Back to what KAME is</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Based on Sakana AI&apos;s tandem design KAME (arXiv 2510.02327) and on Kyutai&apos;s Moshi. With the models on this machine, nothing of what you say leaves it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME Desktop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Licences</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Made of</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open the &amp;guide</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Qt {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the licences</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The icon of KAME</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Version {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>from a wheel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>from its source</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>optional</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>BackendDialog</name>
    <message>
        <source>&amp;Compare with it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Test connection</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Use the router again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Use this model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close this dialog</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Connection</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It answers next to the model that speaks.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Key</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Result of the test</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Starts the router again, with your correction.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Test</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Testing {0} …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The conversation goes on with it instead of the router.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The conversation goes on with it.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>BackendPicker</name>
    <message>
        <source>&amp;Provider</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Enter the server&apos;s address first.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>M&amp;odel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Provider</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Refresh the list of models</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ser&amp;ver</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Server</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The address of the server; press Enter to use it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Who runs the language model that works out the answers.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>default</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>BackgroundTasks</name>
    <message>
        <source>This failed, because of a fault in the program ({0}). The log has the details.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Choice</name>
    <message>
        <source>Automatic</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not found: {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>System default</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ChoiceCard</name>
    <message>
        <source>Fits best</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0}, fits best</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>CloudCard</name>
    <message>
        <source>In the cloud</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Key</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Knows most. What you say is sent there as text, and paid for with your key.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model in the cloud</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Provider</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>CodeButton</name>
    <message>
        <source>Copied</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the code</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the code in {0}</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>CommandPalette</name>
    <message>
        <source>Commands</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Commands found</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing is called so.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search commands, settings, conversations and models</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search commands, settings, conversations, models</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Composer</name>
    <message>
        <source>Add files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drop files to add them to the conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Enter</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Send what you typed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sent once KAME is ready</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Type a message</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Type a message: the conversation goes on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Type instead of talking</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ComposerField</name>
    <message>
        <source>Only the first {0} letters were pasted. Add a long text as a document.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ConversationItems</name>
    <message>
        <source>From its first words</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Title of the conversation</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ConversationListController</name>
    <message>
        <source>Conversations are not kept here.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ConversationsPane</name>
    <message>
        <source>&amp;Delete all…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Duplicate with another model…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Export…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Import…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;New conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Open</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Pin</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Rename</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Conversations</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>De&amp;lete</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete all conversations, and the sound that was kept with them?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Import, export, delete all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>More about conversations</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing found for “{0}”.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search conversations</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start a new conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Un&amp;pin</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your conversations are kept here.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>DemoController</name>
    <message>
        <source>Looking for models …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no model, so nobody can answer. Get one under “Models”, and come back.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the demo has brought could not be written: {0}</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>DemoCourse</name>
    <message>
        <source>Getting ready: both are being asked, one after the other. {0} of {1}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Recorded at {0} on this machine, one side after the other, and played side by side. Same model, voice and speech recognition on both.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The demo can&apos;t go on, because of a fault in the program ({0}). The log has the details.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>DemoScreen</name>
    <message>
        <source>Images (*.png)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME demo</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save as picture</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The picture could not be saved: {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>kame-demo.png</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>DevicePicker</name>
    <message>
        <source>Not found: {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>System default</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>DevicesPopover</name>
    <message>
        <source>&amp;Loudspeaker</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Sound…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Can be changed during the conversation.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ends this conversation and closes the microphone.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loudspeaker</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loudspeaker level, dB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>M&amp;icrophone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Microphone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Microphone level, dB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>S&amp;top</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sound: devices, tests, echo, talk button</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop the conversation</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>DocumentChip</name>
    <message>
        <source>1 word</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Remove {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model gets all of it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model gets only the first {0} of {1} words: it can&apos;t read more at once.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} words</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>DocumentChips</name>
    <message>
        <source>Documents of the conversation</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>DocumentsController</name>
    <message>
        <source>Add files to the conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Texts ({0})</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{0}” was not added: a conversation has {1} documents at most. Remove one first.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>DownloadStrip</name>
    <message>
        <source> ({0:.0f} GB)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Continue</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Download</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Continue the download</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download of the weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download the weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It goes on in the background. The embedded voice speaks until then.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>State of the download</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopped. What has been downloaded is kept.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The embedded voice speaks until then.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>requesting the files …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0}: {1}</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>DuplicateDialog</name>
    <message>
        <source>&amp;Duplicate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copies the conversation. The copy goes on with this model; the original stays as it is.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Duplicate with another model</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Editor</name>
    <message>
        <source>empty</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>FetchController</name>
    <message>
        <source>This failed, because of a fault in the program ({0}). The log has the details.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>FetchStrip</name>
    <message>
        <source>S&amp;top</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop the download</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopping; what has been downloaded is kept …</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>FigureRows</name>
    <message>
        <source>Each question</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Yours: {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} s</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>FiguresBody</name>
    <message>
        <source>KAME · {0} · the same questions, model and voice on one machine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Median of your {0} questions</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Median of {0} questions</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No figures</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No question was answered by both</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>One question</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your question</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0}, from its end until the answer was heard</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>FiguresPage</name>
    <message>
        <source>Again (Enter)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Leave (Esc)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save as picture (S)</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>FindBar</name>
    <message>
        <source>Close the search</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close the search (Esc)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Find in this conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How often it was found</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next (Enter)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Previous (Shift+Enter)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not found</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} of {1}</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>FirstRun</name>
    <message>
        <source>&amp;Back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Next</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Start talking</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Start typing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Machine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Page</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>S&amp;kip, use what fits</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Set up KAME</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sound</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Talk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The embedded voice, until the weights of {0} are here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Voice</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Folder</name>
    <message>
        <source>Choose a folder: {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>FolderMenu</name>
    <message>
        <source>&amp;Dissolve</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;New folder…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Out of its folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Rename…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mo&amp;ve to folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rename folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The folder goes; its conversations stay.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The folder&apos;s name:</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Folders</name>
    <message>
        <source>Add a folder: {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Add…</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>FrontEndBar</name>
    <message>
        <source> ms</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answer &amp;delay</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answer delay</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download of the weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download the weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How long it waits after you have spoken.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How much later than the language model it gets what you say.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How much of the conversation the voice remembers. When it is nearly full, it starts again at a pause with the newest part.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How the weights are kept on the card: bf16 for 24 GB, int8 for 12 to 16, int4 for 8.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory of the conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Oracle &amp;lead</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Oracle lead</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pr&amp;ecision</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Precision</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop the download</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>automatic</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>empty</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} of {1}</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>FrontEndController</name>
    <message>
        <source>requesting the files …</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Grabber</name>
    <message>
        <source>Your keyboard&apos;s layout has no “{0}”, so it can&apos;t be a hotkey. Choose another.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{0}” is another program&apos;s hotkey already, so it can&apos;t be used. Choose another.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{0}” is the same as “{1}” on your keyboard, which has another use here already. Choose other keys.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>GraphicsStrip</name>
    <message>
        <source>&amp;Download</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Download…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Restart KAME</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>About {0} GB have to be downloaded. They take about {1} GB on the disk, of which {2} GB are free.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checking the graphics card …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download what the graphics card needs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Get what the graphics card needs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Installation of what the graphics card needs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME goes on with the embedded voice meanwhile.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME goes on with the embedded voice.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Leave the graphics card alone for now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>N&amp;ot now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Restart KAME for the graphics card</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Restart KAME to use it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Several GB have to be downloaded. Download them now?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop the installation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The embedded voice speaks until then.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Type in a terminal: {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the graphics card needs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the graphics card needs is installed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} GB have to be downloaded. They take {1} GB on the disk, of which {2} GB are free.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>GuideDialog</name>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Guide</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>HistoryController</name>
    <message>
        <source>Nothing has been said in this conversation that could be exported.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{0}” is among your conversations now.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>HistoryFiles</name>
    <message>
        <source>Conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export a conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Exported conversations (*.json)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Import a conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>JSON, which can be imported (*.json)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Markdown (*.md)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sound (*.wav)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Subtitles (*.srt)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{0}” is there already. Export under another name, or choose that file itself.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Hotkeys</name>
    <message>
        <source>“{0}” can&apos;t both talk and mute: it only talks. Choose another key to mute.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>InspectorPages</name>
    <message>
        <source>Latency</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Requests</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>InspectorPane</name>
    <message>
        <source>Parts of the inspector</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Timeline</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Instance</name>
    <message>
        <source>KAME does not know this command. It knows {0}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME was busy for too long, so this was not done. Try again.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>KeyBox</name>
    <message>
        <source>&amp;Forget key</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Save key</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>API key</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Forget key</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save key</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The key comes from the environment variable {0}, which goes before a saved one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The key comes from the environment, which goes before a saved one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The key is in the system&apos;s keyring.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The key is kept in memory until you close the window: there is no keyring here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no key yet. Copy one from your account at the provider, and paste it here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no key; this one may not need any.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where the key is</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>paste a key</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>KeyField</name>
    <message>
        <source>Click here, or come here with Tab, and press the keys.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>None</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>none: press keys here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0}: none</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Keys</name>
    <message>
        <source>none</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{0}” is used already. Press other keys.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>LatencyBar</name>
    <message>
        <source>What was waited for</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>nothing was waited for</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>LatencyGauges</name>
    <message>
        <source>({0} cut short)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 request</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Budget of a step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cost</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cost in words</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Half end within {0} ms, 99 % within {1} ms. Too late: {2}; dropped: {3}; gaps in the sound: {4}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME hears and speaks in steps of {0} ms; none was taken yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory in words</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory of the conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No model was asked yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Steps in words</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The voice&apos;s model remembers {0} of {1} minutes.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>more of unknown price</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>price unknown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} %</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} of {1} ms</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} requests</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} tokens in, {1} out</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>LatencyStrip</name>
    <message>
        <source>One bar an answer, the newest at the right. Click one, or use the arrow keys, to see its stages.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Response times of the newest answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>none picked</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>slow</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} of {1}: {2}</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>LatencyView</name>
    <message>
        <source>Co&amp;py as text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copied</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy as text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How fast it came</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Latency</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Latency of this conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No answer yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The answer to turn {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The last answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The newest answers, and the median of all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no answer yet. Say something: here you will see what its time went to.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Why was this slow?</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>LatencyWords</name>
    <message>
        <source> (usually {0})</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 frame was dropped</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Another model had failed, so {0} was asked instead, and took {1} to its first words{2}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Between the end of one stage and the start of the next.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>For {0}, one stage waited for another. If this stays so, close other programs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>From the model&apos;s first words, or the end of your turn if that came later, until the first sound.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>From the request that was answered until its first words. It may run while you talk.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>From your last sound until KAME was sure that your turn was over.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>From your last sound until your words were settled.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>If this stays so, choose a quicker model.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In between</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It began {0} before you had ended.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It was heard {0} after you had sent your words.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It was heard {0} after your last sound.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It was not slow. The longest part of it was “{0}”, {1}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It was not slow: there was nothing to wait for.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME noticed only after {0} that you had finished{1}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME waited {0} to be sure that you had finished, {1}. Without hands-free, letting the talk button go ends a turn at once.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Noticing that you had finished</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model had answered while you spoke, and cost no time.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model&apos;s first words</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The tool “{0}” was at work for {1} before the model could answer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The voice took {0} from the model&apos;s first words to its first sound{1}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The voice&apos;s first sound</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The voice&apos;s own model started after {0}, without waiting for another model.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The whole wait</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This machine fell behind: {0}. Close other programs, or choose a lighter voice.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This machine was too busy to write down what you said, which took {0}{1}. Close other programs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Writing down what you said</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Writing down what you said took {0}{1}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You had switched the model, so {0} was asked again, and that took {1}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You have asked for a pause of {0} before each answer. Turn “Answer delay” down to hear it sooner.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You let the talk button go {0} after your last sound. Let it go as soon as you have finished.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>because your sentence did not tell</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>because your sentence sounded unfinished</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>in between</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>noticing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>voice</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>writing down</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} frames were dropped</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} took {1} to its first words. It was its first answer in this conversation: a model that has just been loaded needs longer once.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} took {1} to its first words{2}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} was asked again, because your last words changed the question, and took {1} to its first words{2}.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>LevelMeter</name>
    <message>
        <source>muted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>too loud</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Lights</name>
    <message>
        <source>What it does</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>listens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>speaks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>thinks</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>LinkRow</name>
    <message>
        <source>Change…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>On the page “{0}”</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0}: open</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>LogPage</name>
    <message>
        <source>&amp;Search and diagnostics…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open the whole log</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>LogPanel</name>
    <message>
        <source>&amp;Copy entries</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Open the log folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;with what was said</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 entry</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All levels</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>C&amp;lear</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose an entry to read all of it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Clear the log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copied 1 entry.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copied {0} entries.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copied, without keys and without what was said.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copied, without keys, and with what was said. Read it before you pass it on.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy &amp;diagnostics</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the selected entries</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Diagnostics with what was said</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Errors and faults</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go to the &amp;newest</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Levels that are shown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No entry matches. Search for less, or show all levels.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing has been logged yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search in the log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The folder can&apos;t be opened on this desktop. It is {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The log was cleared here. Its files remain.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The selected entries in full</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Warnings and worse</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What was done</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Writing …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} entries</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} of {1} entries</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>LogTable</name>
    <message>
        <source>Detail</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Error</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fault</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Level</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Message</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Note</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Warning</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>LogView</name>
    <message>
        <source>Columns of the log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Log entries</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Warning</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>MachinePage</name>
    <message>
        <source>Check a&amp;gain</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check of this machine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checking this machine …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Disk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Graphics card</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keys</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loudspeaker</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Microphone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ollama</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Processor</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This machine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What fits this machine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What is being checked</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What this machine has, and what fits it. The embedded voice works on any machine.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>MainWindow</name>
    <message>
        <source>KAME</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} – KAME</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Mark</name>
    <message>
        <source>all right</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>good</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>missing</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Measurements</name>
    <message>
        <source>Clocks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Clocks measured</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Echo</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Echo is made {0} dB quieter.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Echo measured</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Echo remains, and the app may mistake its own voice for yours.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Echo remains: it is made {0} dB quieter, and the app may still mistake its own voice for yours.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Losses</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loudspeaker and microphone keep the same time.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No echo measured: headphones, or nothing has been said yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>None of your voice was lost, and the app&apos;s had no gaps.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not known yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not measured: echo cancellation is off.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing is measured, since no conversation is running.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sound lost</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Switch echo cancellation on, or use headphones.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The loudspeaker&apos;s clock runs {0:.0f} ppm fast; this is corrected.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The loudspeaker&apos;s clock runs {0:.0f} ppm slow; this is corrected.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Turn the loudspeaker down, move the microphone away from it, or use headphones.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ppm: parts per million. 12 ppm are a second a day.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} ms of your voice were lost; gaps in the app&apos;s voice: {1}. The machine may be too busy.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>MessageBar</name>
    <message>
        <source>Messages</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>MessageRow</name>
    <message>
        <source>({0}×)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close this message</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close this message (Esc)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Connection of the comparison model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Connection of the model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Connection…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Error</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Notice</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This has happened {0} times.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Warning</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} times</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>MicrophoneCard</name>
    <message>
        <source>Details</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Details about sound</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Getting ready to listen …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>I hear you.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Microphone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Microphone level, dB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No microphone was found. You can type; KAME notices one that you plug in.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Say something.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The conversation is stopped, so nothing is heard. You can type.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Whether you are heard</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You are muted, so nothing is heard.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>MiniTimeline</name>
    <message>
        <source>The last minute: your turns, KAME&apos;s answers, and the models at work. Click for more.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Timeline of the last minute</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>MiniWindow</name>
    <message>
        <source>Back to the window</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Enter</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Esc</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mini window</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop speaking</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Talk</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ModelCard</name>
    <message>
        <source>&amp;Use it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A better model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose &amp;another…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose another model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Details</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Details about the model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Each question goes to the model that your table names for it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It runs in the cloud: what you say is sent there as text, and paid for with your key.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It runs on a server that you have named: what you say is sent there as text.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It runs on this machine, and costs nothing.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME can use your graphics card once it is set up.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Set &amp;up…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Set up what fits the graphics card</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use the better model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What fits the graphics card</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the model costs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your graphics card has room for KAME ({0} GB to download).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your graphics card has room for KAME.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} (Ollama) is here, too, and knows far more.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ModelField</name>
    <message>
        <source>1 model is offered.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fetches the list of models again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No models are known yet: type a name.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The list of models could not be fetched: {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The list of models is being fetched.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model&apos;s name; empty for the default one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} models are offered.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ModelListModel</name>
    <message>
        <source>By kind of question</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Favourites</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In the cloud</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>On this computer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>On your network</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>To download</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ModelListView</name>
    <message>
        <source>Models</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ModelName</name>
    <message>
        <source>Model: {0}</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ModelOffer</name>
    <message>
        <source>A better model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Do&amp;wnload</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download of the better model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download the better model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sto&amp;p</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop the download of the better model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This machine is fast enough for {0} ({1} GB to download), which knows far more.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} is being downloaded ({1} GB). Until then the small model answers.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} is on this machine, and is used by “Built in”.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ModelPage</name>
    <message>
        <source>A model on this machine: nothing leaves it. The small one included is quick, and knows little.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Built in</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Paste a key first, or choose another model.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Result of the test</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>T&amp;est it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Test the model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Testing {0} …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The language model that works out the answers. You can change it at any time.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model that you use now.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0}, {1}</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ModelPill</name>
    <message>
        <source>Model: {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Opens the list of models.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0}. Click to change the model, also in mid-answer (Ctrl+Shift+M).</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ModelPopover</name>
    <message>
        <source>&amp;Answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Compare…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Key and connection…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>F&amp;ront-end</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Front-end</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It waits for the end of what you say.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It works on the answer while you still talk, and speaks while it thinks.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Key, server and models of the provider</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No model is called that. Below you can name any model and server.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Other &amp;model or server</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rou&amp;ter&apos;s table…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search models</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Table of models by kind of question</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What hears and speaks.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>When I finish</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>When the answer begins.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>While I speak</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ModelTable</name>
    <message>
        <source>End of turn</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Facts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Front-ends for a graphics card</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Language models</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Languages</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Licence</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Models</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Size</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Speech recognition</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Speed here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>State</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Voices</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>here, with the app</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>in use</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>many</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>partly here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} GB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} of 120</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ModelsPanel</name>
    <message>
        <source>&amp;Automatic</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Download</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Remove</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Stop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Use</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>About the chosen model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>C&amp;heck</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check the chosen model&apos;s files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download of a model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download the chosen model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Everything here runs on this machine. Speed is measured once, on this machine. Facts: how many of 120 short questions it answers correctly.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Let the app choose a model of this kind</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loading {0} …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Models</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>P&amp;lay</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Play a sample of the chosen voice</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading all of {0} …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Remove the chosen model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop the download</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The app chooses from now on.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use the chosen model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What happened</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} is on this machine.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} is used from now on.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ModelsRow</name>
    <message>
        <source>Models, with their keys</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>MuteButton</name>
    <message>
        <source>Mute the microphone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Silences the microphone (Ctrl+M).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The microphone is muted: none of its sound is used.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Offers</name>
    <message>
        <source>Download</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Restart KAME</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model of this conversation, {0}, is not known here; {1} goes on in its place.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This machine is fast enough for {0} ({1} GB to download), which knows far more.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use it now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the graphics card needs is installed, and is used after a restart of KAME.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What was said here is not kept: when you open another conversation, it is gone.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} (Ollama) is here, too, and knows far more.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} is being downloaded. Until then the small model answers.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} is downloaded, and can hear and speak from now on.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} is here. New conversations with the built-in model use it.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>OllamaCard</name>
    <message>
        <source>A larger model on this machine, run by Ollama.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ollama</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ollama does not run here. Start it, then go back and check again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ollama runs, but has no model yet. Download one here:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ollama&apos;s model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Still checking this machine …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This machine could not be checked. Go back and check again.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>OracleCards</name>
    <message>
        <source> ({0} from the cache)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source> · no price known</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>(no words)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 word</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Asked on: “{0}”</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Waiting for {0} … {1} s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>about {0} tokens in, {1} out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>asked</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>comparison</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>complete turn</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>creative</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>everyday talk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>failed: {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>first words after {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>for {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>humanities</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>interrupted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>older</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>on 1 word</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>on {0} words</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>reasoning</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>science and maths</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>speaking</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>spoken</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>stopped</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>superseded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>superseded by {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>switched to</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} ({1})</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} tokens in, {1} out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} with {1}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} words</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} words heard, {1} sent to the voice, {2} still waiting</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>OracleColumn</name>
    <message>
        <source>Oracle revisions</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Revisions of {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>S&amp;witch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Switch to {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>answers</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>OracleHeader</name>
    <message>
        <source>A second model answers, too: its answers are shown and not spoken.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Compare</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Details</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Earlier thoughts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>End comparison</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Oracle</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>S&amp;witch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Shows the answers before the one that counts, too.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Shows what was asked, how fast the answer came, and what it cost.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Switch to the comparison model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The comparison model answers from now on, and the present one becomes the comparison ({0}).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The comparison model answers no more.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model that answers, and the comparison</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model&apos;s answers, revision by revision.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the other model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} answers; {1} is the comparison.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>OraclePane</name>
    <message>
        <source>The comparison model&apos;s answers appear here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model&apos;s answers appear here while you still speak.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The other model</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>PageList</name>
    <message>
        <source>Pages of settings</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Panels</name>
    <message>
        <source>Automatic</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Panes</name>
    <message>
        <source>&amp;Conversations</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Inspector</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Oracle</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>PortalHotkeys</name>
    <message>
        <source>Mute the microphone for KAME</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Talk to KAME</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The desktop did not answer when asked for hotkeys, so there are none.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The desktop ended the app&apos;s hotkeys, so there are none any more.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The desktop gave “{0}” no key. Choose one in its settings for keyboard shortcuts.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The desktop refuses this app hotkeys ({0}), so there are none.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The desktop&apos;s dialog for hotkeys was cancelled, so there are none.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This desktop offers programs no hotkeys, so there are none.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>PriceTable</name>
    <message>
        <source>A price of “{0}” is missing. Enter it, or remove the row.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A row names no model. Enter one, or remove the row.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Read from cache</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model&apos;s name. Its dated versions cost the same, unless they have a row of their own.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>US dollars per million tokens that it reads from its server&apos;s cache; empty: the same as read.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>US dollars per million tokens that it writes.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>US dollars per million tokens that the model reads.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Written</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Yours; the app has no price for it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Yours; the app has other prices for it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Yours; the app&apos;s is {0}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>as read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{0}” is below zero. Enter the price without the sign.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{0}” is in the table already. Change that row, and remove this one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{0}” is not a price. Enter dollars as a number, like 2.50.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>PriceView</name>
    <message>
        <source>The table&apos;s columns</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>PricesDialog</name>
    <message>
        <source>&amp;Add a model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Back to the app&apos;s price</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Remove</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Save</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>If you save here, a new one is written, and a copy of the old one is kept.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prices</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prices, in US dollars per million tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Remove the model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The app&apos;s prices are those that the providers listed when this version was made. Check them with the provider: prices change.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>US dollars per million tokens. Your own prices are in bold.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What can&apos;t be saved</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What is wrong with your price table</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ProcessingBox</name>
    <message>
        <source>&amp;Echo cancellation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Noise suppression</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Automatic &amp;gain</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Makes a quiet voice louder, and everything else that can be heard with it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Removes steady noise, such as a fan&apos;s; a voice may lose some brightness.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Removes the app&apos;s own voice, so that you can interrupt it while using loudspeakers.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ProviderBox</name>
    <message>
        <source>API key</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>API key for {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Connection</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Forget</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Forget the key for {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Give the address of the server first: a key belongs to its server.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Result of the test of {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save the key for {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Test</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Test the connection to {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Testing {0} …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where the key for {0} is</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>connection</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>PullBox</name>
    <message>
        <source>&amp;Download</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download a model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download of the model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download the model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model to download</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Requesting {0} …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>State of the download</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop the download</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopped. What has been downloaded is kept: download it again to continue.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>model to download, such as gemma3:4b</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} is on the server.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>QuickAccess</name>
    <message>
        <source>Begin to talk, and end</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Bring back what you sent before</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Elsewhere in the window</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mute or unmute</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Send the message</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show these keys, while you are not typing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start a new line</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop speaking, or close a message</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Talk, while it is held</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Talking</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Typing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>While another window has the keyboard</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>RequestWords</name>
    <message>
        <source>Asked</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cost</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>End</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>First words</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>From the request to the first words of the answer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The number of words of the answer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The number of your words that the model was asked on.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens in</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Turn</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Words</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>compared</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not spoken</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>partly spoken</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>spoken</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>stopped</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>superseded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>waiting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>writing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“≈” marks what was estimated here, and not counted by the server.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>RequestsPage</name>
    <message>
        <source>&amp;Copy as text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 request</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Columns of the requests</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the requests as text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No model was asked yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Requests of this conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The selected lines, or all, with tabs between the columns.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} requests</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ResetBar</name>
    <message>
        <source>&amp;Keep them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Reset all…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Reset them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Undo</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Changes take effect at once, unless it says otherwise.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Effect of changes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep the settings as they are</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reset all settings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reset all settings now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings that are back at their defaults: {0}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings that are not at their defaults: {0}. Reset them?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Undo the reset</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>RoutesDialog</name>
    <message>
        <source>&amp;Use this table</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Creative</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Everyday talk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Humanities</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reasoning</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Router&apos;s table</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Science and maths</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>While “{0}” is chosen, each question goes to the model for its kind.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>history, law, languages</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>physics, code, engineering</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>puzzles, decisions, step by step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>small talk, plans, the household</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>stories, rhymes, ideas</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>RowTexts</name>
    <message>
        <source>, with sound</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 turn</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Earlier</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Folder {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Last 30 days</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Last 7 days</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pinned</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Today</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Today {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Untitled</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Yesterday {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>closed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>d MMMM</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>d MMMM yyyy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>open</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>pinned</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>running</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} conversations</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} turns</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>SecondaryDialog</name>
    <message>
        <source>&amp;Compare</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Compare</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The comparison model answers every question, too. Its answers are shown, but not spoken until you switch to it. Both models are paid for.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Sentence</name>
    <message>
        <source>Copy</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ServerForm</name>
    <message>
        <source>&amp;Command</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A&amp;ddress</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Address</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ar&amp;guments</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Arguments</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Command</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It is</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Kind: a program on this machine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Kind: an address</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Notes about this server</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a &amp;program on this machine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a word, such as weather</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>an addr&amp;ess</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>one on each line, without quotes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>such as https://example.org/mcp</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the program alone, such as npx</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ServersDialog</name>
    <message>
        <source>&amp;Add</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Remove</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Save</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Test</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>(no name yet)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Add a server</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It is switched off in the list&apos;s file (“disabled”), and stays so.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its arguments hold empty lines or line breaks: change them in the list&apos;s file.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its variables in the list&apos;s file stay as they are: {0}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Programs and addresses that offer tools (MCP). They run only in a conversation that uses them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Remove the server</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Result of the test, or what can&apos;t be saved</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>S&amp;top</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Servers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Starts or requests it, and ends it again. The first time, that may take a minute.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop testing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopped.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Test the server</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Testing “{0}” …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The server</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Then open this dialog again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tool servers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What is wrong with the list</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} · not used</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} · switched off</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>SessionManager</name>
    <message>
        <source>The conversation could not start, because of a fault in the program ({0}).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The log has the details.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>SessionView</name>
    <message>
        <source>The window could not show something ({0}); the conversation goes on.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use the talk button</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>SettingRow</name>
    <message>
        <source>Back to the default: {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reset: {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Restarts a running conversation.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Takes effect at the next start of KAME.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Takes effect with the next conversation.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Why the input is invalid: {0}</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>SettingsArea</name>
    <message>
        <source>Found for “{0}”</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing found for “{0}”.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Page</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>SettingsController</name>
    <message>
        <source>The settings could not be saved ({0}); they hold until you close the window.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>SettingsDialog</name>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close this dialog</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search the settings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings shown</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ShortcutSheet</name>
    <message>
        <source>All keys</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keys</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open the &amp;guide</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>SoundDialog</name>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close this dialog</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Devices</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Measured in this conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Processing of the microphone&apos;s sound</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sound</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Talk button</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>SoundPage</name>
    <message>
        <source>&amp;Microphone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>L&amp;oudspeaker</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No loudspeaker. Plug one in, and it is offered here; until then you can read the answers.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No microphone and no loudspeaker. Plug them in, and they are offered here; until then you can type, and read the answers.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No microphone. Plug one in, and it is offered here; until then you can type.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Say something, and see whether you are understood.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sound</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What is missing</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>SoundTestResult</name>
    <message>
        <source>Good: loud enough, and clear.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How the test goes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Noise almost drowns out your voice: move closer, find its source, or switch noise suppression on.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing at all came from “{0}”. Check that it is not muted, by its own switch or in the system&apos;s sound settings, and that it is the right one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Too loud, so that the sound is cut off: move away a little, or lower the microphone&apos;s level in the system&apos;s sound settings.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Too quiet: move closer, or raise the microphone&apos;s level in the system&apos;s sound settings.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Understood: “{0}”</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the test found</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You were heard, but no words were understood. The app&apos;s speech recognition knows English.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>loudest {0} dB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>noise {0} dB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>speech {0} dB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{0}” works, but nobody spoke. Try again, and speak while it listens.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>SoundTests</name>
    <message>
        <source>If you heard nothing: turn the loudspeaker up, or choose another one in the window.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Listening. Say something, as you would in a conversation.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loudspeaker level, dB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Microphone level, dB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Opening the microphone …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Play a so&amp;und</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Play it &amp;back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Plays the microphone&apos;s recording, before any processing, on the loudspeaker.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Plays two tones and a sentence in the app&apos;s voice.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Say &amp;something</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop playing back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop the sound</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>That&apos;s all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The system&apos;s default</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This is what the microphone recorded.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Transcribing what you said …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You should hear two tones now, and then a voice.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>StagePage</name>
    <message>
        <source>Ask it yourself</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Both are being asked, one after the other …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Getting ready …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hold the space bar and ask. Press 2 in mid-sentence to change its mind.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hold the space bar and ask. There is only one model here to answer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hold to ask</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The tandem answers live. The cascade then gets the recording of your question, silently.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} of {1}</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>StageTable</name>
    <message>
        <source>95 %</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Last</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Median</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Slowest</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stage</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stages</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stages may overlap: together they may take longer than this.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This one</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>StartPage</name>
    <message>
        <source>Full screen or window (F11)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Leave (Esc)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>One question. One model. Who speaks first?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start (Enter)</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>StatusLine</name>
    <message>
        <source>, 1 cut short</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, {0} cut short</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 gap in the sound</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 request</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cap: {0} of {1}; {2}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Getting ready: {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Inspector</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Last answer after {0} s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Last answer began {0} s before you ended</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No answer yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Running</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Running: {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Shows the latency in the inspector.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The requests to the models, and what they cost, are counted here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Usage of this conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>all is well</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>estimated</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>models that cost money are no longer asked</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>more of unknown price</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no price known</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>one moment</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>partly estimated</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>price unknown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the model is asked less often</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} cut short</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} from the cache</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} gaps in the sound</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} in, {1} out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} requests</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} requests, of which {1} were cut short by a newer one</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} tokens in, {1} out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} · median {1} s · 95 % {2} s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0}.
Click to see where the time went.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Steps</name>
    <message>
        <source>Step {0} of {1}: {2}</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Stopwatch</name>
    <message>
        <source>Seconds until it is heard</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} seconds</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>StyleDialog</name>
    <message>
        <source>&amp;Prices…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Temperature</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Use for this conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;long</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;short</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A few sentences.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A sentence or two.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Also for new conversations</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As many as it takes.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cap in dollars</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close this dialog</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How freely it chooses its words: 0 sober and the same each time, 2 wild.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It may &amp;cost at most</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Length of answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Length: {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Near the cap, the model is asked less often; at the cap, models that cost money are no longer asked.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Persona</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prices</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Style and tools</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model&apos;s own temperature</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The price of this model is not known, so the cap has no effect. Enter its price.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tools that the model may use</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>V&amp;oice</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Voice</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What models cost. Costs are counted by this table.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Who answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Who answers, in your words: “You are a patient teacher of physics.” Empty: KAME as it is, friendly and brief.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Who speaks in this conversation. KAME and Moshi keep their own voice.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>also for &amp;new conversations</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>m&amp;edium</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no cap</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the &amp;model&apos;s own</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the usual one</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} (not on this machine)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} (speaks another language)</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Switch</name>
    <message>
        <source>off</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>on</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>SystemParts</name>
    <message>
        <source>Open the page</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This build of KAME has no address to ask.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This copy of KAME can&apos;t be started at login.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This could not be changed ({0}).</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>TalkButtonBox</name>
    <message>
        <source>&amp;Mute</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Talk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;hold it while you talk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In your system&apos;s own keyboard settings, you can assign these commands to keys:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keys that your desktop uses</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keys to mute</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keys to talk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Talk button: hold it while you talk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Talk button: press it once to talk, and once to end</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>These keys work while another window has the keyboard:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Trouble with the keys</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Why these keys can&apos;t be used</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your desktop uses: {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>mutes the microphone, and the next time unmutes it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>press it &amp;once to talk, and once to end</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>starts your turn, and the next time ends it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>starts your turn, for a key that can run one command when it goes down …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} to mute</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} to talk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{0}” can&apos;t both talk and mute. Press other keys.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>… and another when it goes up: this one ends your turn</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>TalkDock</name>
    <message>
        <source>Asking aloud</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Enter sends your message</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Esc</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Esc stops it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Getting ready</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hands-&amp;free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hands-free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hearing you</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hold to talk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Listening</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Microphone and loudspeaker</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Muted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No microphone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Press to talk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Speaking</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop speaking</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Talk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Talk without the button: your voice starts and ends your turns, and may interrupt an answer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Thinking</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Trying out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>hold to interrupt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>hold to talk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>keep it down while you speak</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>let go when you are done</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not part of the conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>nothing you say is heard</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>or hold the space bar</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>or press the space bar</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>press again when you are done</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>press to go on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>press to interrupt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>press to talk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>speak when you like</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>type, or plug one in</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>you are muted</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>TalkKeys</name>
    <message>
        <source>Hands-free is on, so there is no button to press: just talk.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No conversation is running. Start a new one in KAME&apos;s window.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The conversation is still getting ready. Try again in a moment.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no microphone to talk into. Plug one in, or type.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>TalkMenu</name>
    <message>
        <source>&amp;About KAME</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Connection…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Demo…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Earlier thoughts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Export this conversation…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Find in the conversation…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Guide</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Import a conversation…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Keep the sound of new conversations</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Latency</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Log…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Mini window</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Mute the microphone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;New conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Router&apos;s table…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Set up KAME…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Settings…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Stop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>C&amp;ommands…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Co&amp;mpare…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ke&amp;ys</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Menus</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mod&amp;els…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>S&amp;ound…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>S&amp;witch to the comparison model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>St&amp;yle and tools…</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>TalkPage</name>
    <message>
        <source>All of this can be changed later, above the conversation and in the settings.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hold the talk button or the space bar while you talk, and let go.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How to talk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Just talk: your turn starts and ends with your voice.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keys</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Microphone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No microphone was found. KAME notices one that you plug in, and then you can talk as well.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>None so far</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Press the talk button or the space bar, talk, and press it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ready to talk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ready to type</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tell me something about the moon.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Type a question below the conversation, and press Enter.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Voice</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What can I cook with eggs and rice?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>While another window has the keyboard, {0} does the same.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Why is the sky blue?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You could ask</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{0}”</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ThoughtCard</name>
    <message>
        <source>The answer that counts now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the model thinks appears here while you still speak, and is revised with every few words.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ThoughtsView</name>
    <message>
        <source>What it thinks</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>TimelinePane</name>
    <message>
        <source>+</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Back to the last half minute, and follows it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Back to the present moment (P or End).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export image</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export image…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export the timeline as an image</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Follow</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Follow the conversation again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Holds the picture still; the conversation goes on (P).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Last 30 s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Last 30 seconds</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Models by colour</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>PNG image (*.png)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause the timeline</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>SVG drawing (*.svg)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Saves what is in view.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Shows less of the conversation, larger (+).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Shows more of the conversation (−).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The image could not be saved ({0}). Choose another folder.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What is under the mouse</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Zoom in</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Zoom out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>timeline</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>−</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>TimelineView</name>
    <message>
        <source>Left and Right walk through what happened. P pauses and follows, plus and minus zoom, Home and End go to the start and to the present moment.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Timeline</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>TimelineWords</name>
    <message>
        <source>1 word</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Comparison</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Comparison: {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Errors</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME said from {0} to {1}: “{2}”</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME speaks since {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME speaks since {0}: “{1}”</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME spoke from {0} to {1}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME&apos;s timeline</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Oracle</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Revision {0}, {1}: asked on 1 word at {2}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Revision {0}, {1}: asked on the complete turn at {2}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Revision {0}, {1}: asked on {3} words at {2}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settled at {0}: “{1}”</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Understood by {0}: “{1}”</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Understood by {0}: “{1}”; “{2}” may still change</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Understood by {0}: “{2}”, which may still change</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Words</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You said from {0} to {1}: “{2}”</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You speak since {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You speak since {0}: “{1}”</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You spoke from {0} to {1}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You typed at {0}: “{1}”</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You, in passing, at {0}: “{1}”</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>chosen by the router</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>complete after {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>corrected by revision {0} at {1}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>first words after {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>given up for a newer one</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>interrupted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it paused to hear you</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no words</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no words yet after {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>stopped</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>superseded by {0} at {1}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>switched to at {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>went on with revision {0} at {1}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>you interrupted it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} words</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0}: 1 frame was dropped, to catch up with the microphone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0}: 1 word of revision {1} reached the voice after {2} ms</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0}: a frame was late by {1} ms</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0}: a gap in the sound, the loudspeaker ran dry</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0}: from here on the front-end {1} hears and speaks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0}: from here on {1} answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0}: speech recognition fell behind and skipped 1 update</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0}: speech recognition fell behind and skipped {1} updates</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0}: switched to {1}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0}: the microphone lost 1 frame of sound</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0}: the microphone lost {1} frames of sound</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0}: the voice took token {1} of revision {2}, {3} are waiting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0}: you at {1} dB, KAME at {2} dB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0}: {1}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0}: {1} frames were dropped, to catch up with the microphone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0}: {1} gaps in the sound, the loudspeaker ran dry</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0}: {1} takes over from the one that failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0}: {3} words of revision {1} reached the voice after {2} ms</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ToolsBox</name>
    <message>
        <source>&amp;Remove</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A folder that may be read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A tool server.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Add a folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Add fol&amp;der…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Add, test and remove servers that offer tools (MCP).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>C&amp;alculator</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cloc&amp;k</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>F&amp;iles</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Folders that may be read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It is not in the list of tool servers, or can&apos;t be used: switch it off, or add it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It may read what is in these folders:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reads files in the folders that you allow; it changes none.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Remove the folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tells the time and the date.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tool ser&amp;vers…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tool servers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tool: {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Works sums out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} (MCP)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} (MCP, not listed)</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>TopBar</name>
    <message>
        <source>Ctrl+N</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ends this conversation and begins a new one (Ctrl+N).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Menu</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Oracle</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sidebar</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the model thinks while you speak (Ctrl+2).</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>TranscriptCards</name>
    <message>
        <source>   interrupted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>   typed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>(nothing understood)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Earlier turns are too many to be shown here. Export the conversation to read them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Now answering: {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Switched to {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You, in passing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>revised once</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>revised {0}×</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} takes over</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} takes over again</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>TranscriptHeader</name>
    <message>
        <source>Conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings of the conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Style and tools of the conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The persona, the length of answers, the tools, and the cost limit.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>at most {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>long answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>own persona</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>own voice</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>short answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>temperature {0}</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>TranscriptPane</name>
    <message>
        <source>&amp;Ask this again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Copy the selection</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Edit and ask</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Find…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Hear it again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Show its thoughts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ask with another &amp;model…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the &amp;whole conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy this &amp;turn</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Goes on, {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New conversation, {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Shows what the model thought before this answer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Tray</name>
    <message>
        <source>&amp;Hide KAME</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Mute the microphone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;New conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Quit KAME</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Show KAME</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Talk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME – listening</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME – muted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME – speaking</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME – thinking</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>TrayControl</name>
    <message>
        <source>KAME answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME is still here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The conversation goes on. The menu of this icon shows the window again, or quits.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This desktop has no tray for icons.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>TurnActions</name>
    <message>
        <source>Ask again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ask with another model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Edit and ask</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hear it again</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>UndoBar</name>
    <message>
        <source>Undo</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Undo the removal</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} conversations removed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{0}” removed.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Verdict</name>
    <message>
        <source>Both were equally fast</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cascade</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tandem</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0}: {1} s sooner</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0}: {1} times as fast</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Visitor</name>
    <message>
        <source>There is only one model here. Get a second one under “Models” to change it in mid-sentence.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>VoiceCard</name>
    <message>
        <source>Precision</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Precision of {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Still checking this machine …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This machine could not be checked. Go back and check again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>bf16 (best)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>int4 (least memory)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>int8 (half the memory)</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>VoicePage</name>
    <message>
        <source>An experiment: KAME&apos;s design, small enough for a processor. It garbles most answers.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Embedded voice</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KAME</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Moshi</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nano KAME</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reads the model&apos;s answer aloud, on any machine. It is here already.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Speaks at once, and takes up the model&apos;s answer while it is still being worked out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Talks by itself, without a language model: quick, but knows little.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The voice</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What listens and speaks. You can change it at any time above the conversation.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{0} in {1}</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Waveform</name>
    <message>
        <source>Question and answer as sound</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Welcome</name>
    <message>
        <source>Ask me anything.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ask: {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Give me an idea for dinner tonight.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How many days are there in a week?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>I start answering before you have finished.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Welcome</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What is the capital of Sweden?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Why does the moon change its shape?</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>WelcomeCards</name>
    <message>
        <source>&amp;Done</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Done: hide microphone and model</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>WindowsHotkeys</name>
    <message>
        <source>Windows refuses “{0}” as a hotkey (error {1}). Choose another.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{0}” writes a character on your keyboard (AltGr). Choose other keys.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Wiring</name>
    <message>
        <source>Choose a model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go to the newest message</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open the menu</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The comparison model: {0}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The thoughts behind this answer are no longer here: only the newest ones are kept.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>looking for microphones and loudspeakers</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>X11Hotkeys</name>
    <message>
        <source>The X server can&apos;t be asked for hotkeys ({0}), so they don&apos;t work.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>_BackendQuestion</name>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
</context>
</TS>
