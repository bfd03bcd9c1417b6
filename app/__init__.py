"""KAME Desktop: a voice assistant that speaks while it thinks.

Importing this package sets environment variables that libraries read on import, and the interpreter's thread switch
interval.
"""

import os
import sys

from app.platform.cpp_runtime import add_cpp_runtime

# Numpy's linear algebra and OpenMP start one thread per core. These compete with speech recognition, the TTS and the
# language model: endpointing took 300 ms instead of 45 ms. Must be set before numpy is imported.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

# How long (s) a thread may hold the GIL while another waits for it. Each frame needs the GIL dozens of times. With
# Python's default of 5 ms, a second of the user's audio was lost while a saved eight-hour conversation was loading.
# With this value, the loss stays below the amount that the user is notified of.
sys.setswitchinterval(0.0005)

# The package moshi compiles two small functions on first use. This requires Triton and a C compiler, which most users'
# machines lack, and a conversation must not start with a compiler error. Set to an empty string to enable compilation.
os.environ.setdefault("NO_TORCH_COMPILE", "1")

# Disables the telemetry of libraries, regardless of the existing environment, since the app promises not to send any:
# onnxruntime starts it on import, huggingface_hub and others send it with their requests.
for _variable in ("ORT_DISABLE_TELEMETRY", "HF_HUB_DISABLE_TELEMETRY", "DO_NOT_TRACK"):
    os.environ[_variable] = "1"

_cpp_runtime = add_cpp_runtime()
