"""Hashes that tie a stored output to its run."""
import hashlib
import json


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def of_outputs(outputs):
    """Hash of everything that is stored below a cell; its texts are whole, not lists of lines."""
    return digest(json.dumps(outputs, sort_keys=True, ensure_ascii=False))
