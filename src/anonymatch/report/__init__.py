"""Pictures and pages that show results: plain SVG and HTML, nothing to load, no scripts."""
