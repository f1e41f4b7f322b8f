"""The studio: a local web page over the same calls, for those who would rather look than read.

Nothing in here is imported by the rest of the package, so that NiceGUI is needed for it alone.
"""
