"""Grading: participants' answers, each in a sandbox of its own."""
