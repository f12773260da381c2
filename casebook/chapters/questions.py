"""The questions that a notebook asks, and the passages of its Markdown that tell a result.

A question is a paragraph, `**Before you run it:** What will it print?`, in front of its code cell.
`<!-- result -->` begins a passage; it ends at the next heading, at `<!-- next -->`, or with the
cell. A mark that begins a line stands alone in it, or Markdown would not see the rest of the line.
"""

import re

ASK = "**Before you run it:**"
QUESTION = re.compile(rf"^{re.escape(ASK)} (?P<question>.+)$", re.MULTILINE)
RESULT = re.compile(
    r"<!-- result -->[ \n]?(?P<passage>(?s:.*?)) *(?=\s*(?:^#{1,6} |<!-- (?:next|result) -->|\Z))",
    re.MULTILINE,
)
NEXT = re.compile(r"<!-- next -->[ \n]?")
