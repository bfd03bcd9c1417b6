"""KAME Desktop: a voice assistant that speaks while it thinks."""

import os

# Numpy's linear algebra and OpenMP start a thread for each core, which then fight with the ears, the voice and
# the brain for the same cores: a 45 ms judgement took 300. Must be said before numpy is imported.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

# The package moshi compiles two small functions at their first use, with a C compiler and Triton that most
# users' machines lack, and a talk must not begin with a compiler's error. Set it to the empty string to compile.
os.environ.setdefault("NO_TORCH_COMPILE", "1")
