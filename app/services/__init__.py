"""Does what the window and the command line share: back-ends and keys, prices, tool servers, models, sound tests, the machine check."""
