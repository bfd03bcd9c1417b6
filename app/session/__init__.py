"""The tandem: the two clocks side by side, the mailbox between them, and what is written down."""
