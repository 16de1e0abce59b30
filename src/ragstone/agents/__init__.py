"""What the agents of other tools are given: a corpus of their own, a hint how to use it, files that are attached."""
