"""How the documentation is built: `make docs` writes docs/_build/html."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import sslart

HERE = Path(__file__).parent
GALLERY = HERE.parent / "examples" / "gallery"

project = "sslart"
author = "the sslart developers"
project_copyright = author
version = release = sslart.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]

exclude_patterns = ["_build", "_templates", "gallery/**/*.ipynb", "gallery/**/*.py", "gallery/**/*.md5"]
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]  # a function among the settings: the build is whole each time


# -- Markdown: pages that read well on GitHub as they are

myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence"]
myst_heading_anchors = 3

# -- the reference: one page per public name

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
toc_object_entries_show_parents = "hide"
default_role = "py:obj"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False


def _is_here(module: str, name: str) -> bool:
    """Return whether a public name can be had, with all it needs."""
    try:
        getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        return False
    return True


# what needs an extra that is not installed is left out, so that the build gives no warning about it
if not _is_here("sslart.river", "StreamClassifier"):
    exclude_patterns.append("reference/river.rst")
if not _is_here("sslart.dask", "AutoSSLART"):
    exclude_patterns.append("reference/dask.rst")
if not _is_here("sslart.client", "Client"):
    exclude_patterns.append("reference/client.rst")
if not _is_here("sslart.server", "serve"):
    exclude_patterns.append("reference/server.rst")
if not _is_here("sslart", "to_onnx"):
    exclude_patterns.append("reference/onnx.rst")

# -- the gallery: examples/gallery, run while the site is built

sphinx_gallery_conf = {
    "examples_dirs": str(GALLERY),
    "gallery_dirs": "gallery",
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("sslart",),
    "reference_url": {"sslart": None},
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
}

# -- the site

html_theme = "pydata_sphinx_theme"
html_title = "sslart"
html_static_path = ["_static"]
html_css_files = ["sslart.css"]
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_copy_source = False
html_context = {"default_mode": "auto"}
html_theme_options: dict[str, Any] = {
    "logo": {
        "text": "sslart",
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo-dark.svg",
        "alt_text": "sslart: first page",
    },
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "show_nav_level": 1,
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars: dict[str, list[str]] = {"index": [], "install": [], "tour": []}

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"

# links to other sites are checked by `make docs-links`, which needs the internet
linkcheck_anchors = False
linkcheck_timeout = 20


def skip_what_is_not_ours(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out of the reference what comes from scikit-learn or Python, and fields that Python describes itself."""
    function = obj.fget if isinstance(obj, property) else inspect.unwrap(obj) if callable(obj) else obj
    home = getattr(function, "__module__", None) or getattr(function, "__objclass__", None)
    if what == "class" and home is not None and "sslart" not in str(home):
        return True
    if "Alias for field number" in (getattr(obj, "__doc__", None) or ""):
        return True
    return True if name.startswith("set_") and name.endswith("_request") else None


def hide_private_signatures(
    app: Any, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str, str | None] | None:
    """Show no signature of classes that only sslart makes: those that take something private."""
    return ("", returns) if what == "class" and re.search(r"[(\s]_\w", signature or "") else None


def escape_names(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Keep shapes such as (n_features_in_,) from being taken for links."""
    lines[:] = [re.sub(r"(?<=\w)_(?=,\))", r"\\_", line) for line in lines]


def setup(app: Any) -> None:
    """Put the functions above to work."""
    app.connect("autodoc-process-docstring", escape_names, priority=900)  # after numpydoc
    app.connect("autodoc-skip-member", skip_what_is_not_ours)
    app.connect("autodoc-process-signature", hide_private_signatures)
