"""Which releases have a case's fault: from runs, not from reading.

index: the releases that there are · closure: what an installer chooses beside one · probe: the cells that are run, and what their ends
mean · data: the file beside the notebook · one: one run, a process of its own · spread: many at once · command: all together.
"""
