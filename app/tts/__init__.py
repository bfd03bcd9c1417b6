"""The mouth: voices that turn text into clips of sound."""
