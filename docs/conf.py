"""Sphinx configuration.

When editing pages, set ``RANKEVAL_PD_DOCS=cache`` to reuse page output until the code changes.
"""

import os
import sys
import tomllib
from pathlib import Path

# kernels inherit these settings: no progress bars, no warnings about missing Jupyter widgets,
# and one thread per kernel
os.environ |= {"TQDM_DISABLE": "1", "PYTHONWARNINGS": "ignore:IProgress not found"}
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

import rankeval_pd

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "rankeval_pd"
author = "the rankeval_pd developers"
copyright = "2026, the rankeval_pd developers"
release = version = rankeval_pd.__version__

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "alternative_texts",
    "api_links",
    "forked_kernels",
    "glossary_links",
    "kept_outputs",
    "plain_warnings",
    "search_words",
]
exclude_patterns = [
    "_build",
    "jupyter_execute",
    ".jupyter_cache",
    "gallery_code",
    "**/*.ipynb",
    "gallery/*.py*",
]
templates_path = ["_templates"]

html_theme = "pydata_sphinx_theme"
html_title = f"rankeval_pd {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["filter.js"]
_PROJECT = Path(__file__).parents[1] / "pyproject.toml"
_SOURCE = tomllib.loads(_PROJECT.read_text("utf-8"))["project"]["urls"]["Source"]
_OWNER, _REPOSITORY = _SOURCE.split("/")[-2:]
html_context = {  # the links "edit this page"
    "github_user": _OWNER,
    "github_repo": _REPOSITORY,
    "github_version": "main",
    "doc_path": "docs",
}
html_favicon = "_static/favicon.svg"
html_theme_options = {
    "github_url": _SOURCE,
    "use_edit_page_button": True,
    "header_links_before_dropdown": 7,
    "show_prev_next": True,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "search_bar_text": "AUC, P@10, PMI, TREC, BLEU, ...",
}
html_show_sourcelink = False
html_search_scorer = str(Path(__file__).parent / "_ext" / "search_scorer.js")
html_sidebars = {"index": []}

# formulas are MathML, which browsers render natively
html_math_renderer = "mathml"

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = os.environ.get("RANKEVAL_PD_DOCS", "force")
nb_execution_raise_on_error = True
nb_execution_timeout = 180
nb_merge_streams = True
nb_render_markdown_format = "myst"  # tables, too
suppress_warnings = [
    "myst-nb.lexer",  # pages that are not executed have no language
    "config.cache",  # the sphinx-gallery settings contain functions
]


def _krenn_is_here() -> bool:
    try:
        rankeval_pd.datasets.load_krenn_ppv()
    except (OSError, ImportError):
        return False
    return True


# if the paper's data are unavailable, the page shows only the code
nb_execution_excludepatterns = [] if _krenn_is_here() else ["validation/evert2004.md"]

sphinx_gallery_conf = {
    "examples_dirs": "gallery_code",
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "gallery/backreferences",
    "image_scrapers": ("captions",),
    "thumbnail_size": (560, 420),
    "doc_module": ("rankeval_pd",),
    "reference_url": {"rankeval_pd": None},
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "show_memory": False,
    "remove_config_comments": True,
    "capture_repr": (),  # show figures, not their text representations
}

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
