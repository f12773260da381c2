"""Lessons are run by tests/content/test_lessons.py: their exercises have no outputs to compare."""

collect_ignore_glob = ["*.ipynb"]
