"""One style for all plots: SVG without a background, in colours that are legible on white and on
black, and the same bytes for the same numbers.

Text is grey (more than 4.5:1 on white, 4:1 on black), curves are C0 to C4. A colour that a cell
chooses itself, black above all, may vanish on one background.
"""

import sys
from typing import Any

INK, FAINT = "#757575", "#80808050"
STYLE: Any = {
    "svg.hashsalt": "casebook",
    "svg.fonttype": "none",
    "figure.figsize": (5, 3.2),  # as wide as a phone shows at full size of the words
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "font.family": "sans-serif",
    "font.size": 10.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": FAINT,
    "axes.axisbelow": True,
    "lines.linewidth": 2,
    "legend.frameon": False,
    "axes.prop_cycle": "cycler('color', ['#1f8a63', '#cf5428', '#4f7ad1', '#9a7400', '#a163b5'])",
}


def use_style(shell: Any) -> None:
    """Make Jupyter draw SVG without a date, in this style.

    It takes effect when matplotlib draws its first figure: importing it costs more than a second,
    and most kernels never draw. Where it is imported already, it takes effect at once.
    """
    options = {"metadata": {"Date": None}, "bbox_inches": "tight"}
    if "matplotlib" in sys.modules:
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        sys.modules["matplotlib"].rcParams.update(STYLE)
        set_matplotlib_formats("svg", **options)
    else:
        shell.config.InlineBackend.update(
            {"figure_formats": {"svg"}, "print_figure_kwargs": options, "rc": STYLE}
        )
