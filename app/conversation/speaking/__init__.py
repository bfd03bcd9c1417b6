"""What is said now: from the oracle's revisions to the clause that a voice speaks next."""
