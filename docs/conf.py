"""Sphinx configuration."""

import rankeval_pd

project = "rankeval_pd"
author = "the rankeval_pd developers"
copyright = "2026, the rankeval_pd developers"
release = version = rankeval_pd.__version__

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
]
exclude_patterns = ["_build", "jupyter_execute"]
html_theme = "pydata_sphinx_theme"
html_title = "rankeval_pd"
html_theme_options = {"show_prev_next": False}
html_show_sourcelink = False
html_sidebars = {"*": [], "methods/*": []}  # these pages have no siblings to list

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 180


def _krenn_is_here() -> bool:
    try:
        rankeval_pd.datasets.load_krenn_ppv()
    except (OSError, ImportError):
        return False
    return True


# where the paper's data can neither be found nor fetched, its page shows the code alone
nb_execution_excludepatterns = [] if _krenn_is_here() else ["evert2004.md"]

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
