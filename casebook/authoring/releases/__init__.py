"""Which releases have a case's fault: from runs, not from reading.

- index: the releases that there are
- resolve: what an installer chooses for one
- probe: the cells that are run, and what their ends mean
- worker: one environment, in a process of its own
- executor: many jobs at once
- progress: what is shown meanwhile
- command: all together

The rows themselves are `casebook.chapters.evidence`.
"""
