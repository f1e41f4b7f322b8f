"""A fuzzer for all readers: damaged examples of every format, read in process.

A damaged file gives an answer or one clear line. Another exception, a warning that is no note on
the file, a word on standard error, long work, much memory or the end of the process is a failure.
"""
