"""Lists, opens, watches and replaces microphones and loudspeakers.

- `pulse`, `portaudio_library`: the sound server and PortAudio
- `listing`: which devices there are, and which one a name means
- `portaudio_stream`, `microphone`, `loudspeaker`: an open device; blocks on one side, frames and samples on the other
- `managed_source`, `managed_sink`: a source and a sink that outlive the devices behind them
- `active_device`: the open device of a slot; `slot`: which device is to be used
- `messages`: notifies the user
- `watch`, `list_process`: what changes in the system
- `manager`: the device thread, which opens the best device and ties these together
- `paced`: a scripted microphone and a silent loudspeaker
- `drift`: keeps the loudspeaker's queue at one level
- `duplex`: microphone, loudspeaker and echo cancellation as one `DuplexAudio`

A plug travels from `DeviceWatch` to the device thread of `DeviceManager`, which asks each `DeviceSlot` whether another
device is to be opened, opens it, and attaches it to `ManagedSource` or `ManagedSink`; `DeviceNotifier` tells the user.
"""
