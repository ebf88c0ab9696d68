"""How the documentation is built: ``make docs``, or ``sphinx-build -W docs docs/_build/html``.

Everything is local: no page asks another host for anything, and building needs no network.
"""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))
# Examples run while building; their matrices are small, and threads would wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

import coview  # noqa: E402 - after the settings that numerical libraries read once

project = "coview"
author = copyright = "The coview developers"
version = release = coview.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "mathml",
]
exclude_patterns = [
    "_build",
    "gallery/**/*.ipynb",
    "gallery/**/*.py",
    "gallery/**/*.md5",
    "gallery/sg_execution_times.rst",
]
templates_path = ["_templates"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
root_doc = "index"
default_role = "autolink"
nitpicky = False

# API: one page per public name, made from the lists in api.rst.
autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say types, with shapes
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# Pages
myst_enable_extensions = ["deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

sphinx_gallery_conf = {
    "examples_dirs": [str(HERE.parent / "examples")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": "/plot_",
    "show_signature": False,
    "show_memory": False,
    "download_all_examples": False,
    "write_computation_times": False,
    "min_reported_time": 10_000,
    "plot_gallery": "True",
    "abort_on_example_error": False,
    "reset_modules": ("matplotlib",),
    "matplotlib_animations": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "coview"
html_static_path = ["_static"]
html_css_files = ["coview.css"]
# Pages without pages below them need no list of those.
html_sidebars = {
    page: []
    for page in ("installation", "quickstart", "your-data", "command-line", "glossary", "changelog", "contributing")
}
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "use_edit_page_button": False,
}


def _leave_out(app: object, what: str, name: str, member: object, skip: bool, options: object) -> bool | None:
    """Leave out of a class's page what is inherited from other projects, and plain attributes, which its text lists."""
    if what != "class" or skip:
        return None
    if isinstance(member, property):
        return None if (member.__doc__ or "").strip() else True
    home = getattr(member, "__module__", None) or ""
    is_routine = callable(member) or isinstance(member, classmethod | staticmethod)
    return None if is_routine and home.startswith("coview") and not name.startswith("_") else True


def setup(app: object) -> None:
    """Connect the filter of members."""
    app.connect("autodoc-skip-member", _leave_out)  # type: ignore[attr-defined]
