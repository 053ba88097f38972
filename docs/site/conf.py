"""Sphinx's settings. build.py puts the pages together and calls it."""

project = "dsl"
author = "the authors of dsl"
project_copyright = ""
extensions = ["myst_parser", "sphinx_copybutton"]
root_doc = "index"
source_suffix = {".md": "markdown"}

# Anchors of headings as repository hosts make them, so that the pages' links hold there too.
myst_heading_anchors = 4
myst_links_external_new_tab = False
suppress_warnings = ["myst.header"]  # a page may begin with a heading of any level

pygments_dark_style = "github-dark"
highlight_language = "text"
copybutton_exclude = ".linenos, .gp"

html_theme = "furo"
html_title = "dsl"
html_static_path = ["style.css"]
html_css_files = ["style.css"]
html_copy_source = False
html_use_index = False  # the reference has lists of its own
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {
    # Blue of the palette by Okabe and Ito, and its lighter one on a dark page.
    "light_css_variables": {"color-brand-primary": "#0072b2", "color-brand-content": "#0072b2"},
    "dark_css_variables": {"color-brand-primary": "#56b4e9", "color-brand-content": "#56b4e9"},
}
