"""The receipt's own values: whether such a machine can have made such a run."""
import datetime
import re

from packaging.specifiers import SpecifierSet

from ..chapters import RECEIPT_KEYS

# Compute capability by name. https://developer.nvidia.com/cuda-gpus
CAPABILITIES = {
    r"(Tesla )?P100|P40|GTX 10[5-8]0": "6.0 6.1", r"(Tesla )?V100|TITAN V": "7.0", r"(Tesla )?T4|RTX 20[6-8]0|GTX 16[56]0|TITAN RTX": "7.5",
    r"A100|A30": "8.0", r"A10G?|A16|A2|A40|RTX A\d000|RTX 30[5-9]0": "8.6", r"L4|L40S?|RTX 40[5-9]0|RTX \d000 Ada": "8.9",
    r"H100|H200|H20|GH200": "9.0", r"B200|GB200": "10.0", r"B300|GB300": "10.3", r"RTX 50[5-9]0|RTX PRO \d000": "12.0", r"GB10": "12.1",
}
PYTHONS = SpecifierSet(">=3.11,<3.14")


def implausible(chapter):
    receipt = chapter.receipt or {}
    if set(RECEIPT_KEYS) - receipt.keys():
        return
    for key, problem in (("gpus", number(chapter, receipt)), ("compute_capability", capability(receipt)),
                         ("driver", driver(receipt)), ("python", python(receipt)),
                         ("date", date(receipt)), ("seconds", seconds(receipt))):
        if problem:
            yield f": the receipt's {key} is {receipt.get(key)!r}; {problem}"


def number(chapter, receipt):
    """A receipt from before the key is of a machine with one GPU."""
    most, there = max((cell.gpus for cell in chapter.cells), default=0), receipt.get("gpus", 1)
    if type(there) is not int or there < 1:
        return "it is the number of GPUs of the machine"
    return f"a cell needs {most}" if there < most else ""


def capability(receipt):
    name = str(receipt.get("gpu"))
    known = [found for pattern, found in CAPABILITIES.items() if re.search(rf"\b(?:{pattern})\b", name)]
    if not name.startswith(("NVIDIA ", "Tesla ", "GeForce ", "Quadro ")) or not known:
        return f"no GPU is known by the name {name!r} (casebook/checks/receipt.py lists them)"
    return "" if receipt.get("compute_capability") in known[0].split() else f"an {name} has {' or '.join(known[0].split())}"


def driver(receipt):
    """CUDA 12 wheels need 525; a branch number above 699 is years away."""
    found = re.fullmatch(r"(\d{3})\.\d{2,3}(\.\d{2})?", str(receipt.get("driver")))
    return "" if found and 525 <= int(found[1]) < 700 else "drivers that run the book are numbered 525.… to 699.…"


def python(receipt):
    found = re.fullmatch(r"3\.\d+\.\d+", str(receipt.get("python")))
    return "" if found and found[0] in PYTHONS else f"the book runs on Python {PYTHONS}"


def date(receipt):
    try:
        day = datetime.date.fromisoformat(receipt.get("date"))
    except (TypeError, ValueError):
        return "a date is written 2026-11-20"
    today = datetime.datetime.now(datetime.UTC).date()
    return "" if datetime.date(2026, 1, 1) <= day <= today else f"the book is of 2026, and today is {today}"


def seconds(receipt):
    taken = receipt.get("seconds")
    return "" if type(taken) is int and 0 < taken < 3600 else "a run takes a whole number of seconds, up to an hour"
