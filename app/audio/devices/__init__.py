"""Lists, opens, watches and replaces microphones and loudspeakers.

- `pulse`, `portaudio_library`: the sound server and PortAudio
- `listing`: the available devices, and which one a name refers to
- `portaudio_stream`, `microphone`, `loudspeaker`: open devices, and the conversion of their blocks from and to 24 kHz
- `managed_source`, `managed_sink`: a source and a sink that outlive the devices behind them
- `active_device`: a slot's open device; `slot`: the selection of the device
- `messages`: user notifications
- `watch`, `list_process`: detection of device changes
- `manager`: the device thread, which opens the best device and coordinates the modules above
- `paced`: a scripted microphone and a null loudspeaker
- `drift`: keeps the loudspeaker's queue level constant
- `duplex`: microphone, loudspeaker and echo cancellation as one `DuplexAudio`

When a device is plugged in, `DeviceWatch` wakes the device thread of `DeviceManager`. The thread asks each `DeviceSlot`
whether to switch, opens the new device and attaches it to `ManagedSource` or `ManagedSink`. `DeviceNotifier` informs
the user.
"""
