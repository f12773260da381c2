"""One look for all plots: SVG on white paper (readable in dark mode too), and the same bytes for the same numbers."""

STYLE = {
    "svg.hashsalt": "casebook", "svg.fonttype": "none", "figure.figsize": (7.6, 4.2), "figure.facecolor": "white",
    "font.family": "sans-serif", "font.size": 11, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
    "grid.color": "#e3e3e3", "axes.axisbelow": True, "lines.linewidth": 2, "legend.frameon": False,
    "axes.prop_cycle": "cycler('color', ['#0b6e4f', '#c1440e', '#2f4b8f', '#8a6100', '#7b3f8c'])",
}


def use_style():
    """Set the style and make Jupyter draw SVG without a date. Does nothing where matplotlib is not installed."""
    try:
        import matplotlib
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ImportError:
        return
    matplotlib.rcParams.update(STYLE)
    set_matplotlib_formats("svg", metadata={"Date": None}, bbox_inches="tight")
