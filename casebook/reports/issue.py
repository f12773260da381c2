"""An entry as an issue: its title, and a body that every project's form has room for."""

from casebook.reports.entry import Entry, Run

BODY = """\
### Describe the bug

{about}

### Steps to reproduce

```python
{program}```

It prints:

```
{prints}```

### Expected behavior

{expected} The program would print:

```
{right}```

### Environment

{environment}

### Additional context

{context}
"""


def issue(entry: Entry, run: Run | None) -> str:
    """The title, an empty line, and the body in Markdown. `run` tells where it was seen."""
    pins = entry.program.partition("\n")[0].removeprefix("# ")
    place = f"Linux x86-64, {run.gpu}" if run and run.gpu else "Linux x86-64, no GPU needed"
    context = [
        entry.cause and f"Suspected cause: {entry.cause}",
        f"Affected: {entry.versions}.",
        entry.workaround and f"Workaround: {entry.workaround}",
        f"Related: {entry.known}",
    ]
    body = BODY.format(
        **vars(entry),
        environment=f"{place}. {pins}",
        context="\n\n".join(part.rstrip() for part in context if part),
    )
    return f"{entry.title}\n\n{body}"
