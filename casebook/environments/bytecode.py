"""Shared bytecode: what uv links from its cache into several environments is compiled once.

Python keeps the compiled `x.py` in the folder `__pycache__` beside it, under a name that says which
Python, and takes it only where time and size of `x.py` are still those that it was compiled from.
So two environments may share such a folder.
"""

import collections
import csv
from pathlib import Path


def share(site: Path, store: Path) -> None:
    """Let packages in `site` keep their bytecode in `store`, with the same ones elsewhere.

    The same packages are those with the same files (hard links): a copied one is left alone. A
    folder that several packages fill keeps its bytecode, as does one that came with some:
    numpy.distutils 1.26.4 does.
    """
    owners = collections.defaultdict(set)
    for record in site.glob("*.dist-info/RECORD"):
        with record.open(encoding="utf-8", newline="") as lines:
            for name, *_ in csv.reader(lines):
                if name.endswith(".py"):
                    owners[Path(name).parent].add(record.with_name("METADATA"))
    for folder, (metadata, *others) in owners.items():
        compiled = site / folder / "__pycache__"
        inside = folder.parts and not folder.is_absolute() and ".." not in folder.parts
        free = compiled.is_symlink() or not compiled.exists()
        if inside and not others and free and (linked := metadata.stat()).st_nlink > 1:
            kept = store / f"{metadata.parent.stem}-{linked.st_ino}" / folder
            kept.mkdir(parents=True, exist_ok=True)
            compiled.unlink(missing_ok=True)  # a link whose store is gone
            compiled.symlink_to(kept)
