"""Which releases have a case's fault: from runs, not from reading.

- evidence: the rows in the file beside the notebook
- index: the releases that there are
- resolve: what an installer chooses for one
- probe: the cells that are run, and what their ends mean
- worker: one environment, in a process of its own
- executor: many jobs at once
- progress: what is shown meanwhile
- command: all together
"""
