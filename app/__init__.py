"""KAME Desktop: a voice assistant that speaks while it thinks.

Importing the package sets the environment variables that libraries read when they are imported, and how long a thread
may hold the interpreter.
"""

import os
import sys

from app.platform.cpp_runtime import add_cpp_runtime

# Numpy's linear algebra and OpenMP start a thread for each core, which then compete with speech recognition,
# voice and language model for the same cores: 45 ms of endpointing took 300. Set before numpy is imported.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

# A thread that waits for the interpreter gets it after this time, in seconds, and a frame needs it dozens of times.
# With Python's 5 ms, a second of the user's voice was lost while a kept talk of eight hours was read; with this, less
# than the user is told of.
sys.setswitchinterval(0.0005)

# The package moshi compiles two small functions at their first use, with a C compiler and Triton that most
# users' machines lack, and a conversation must not begin with a compiler's error. Set it to the empty string to
# compile.
os.environ.setdefault("NO_TORCH_COMPILE", "1")

# Libraries that report how they are used, which the app promises that nothing does: onnxruntime from its import on,
# huggingface_hub and others with their requests. Whatever the environment said before.
for _variable in ("ORT_DISABLE_TELEMETRY", "HF_HUB_DISABLE_TELEMETRY", "DO_NOT_TRACK"):
    os.environ[_variable] = "1"

_cpp_runtime = add_cpp_runtime()
