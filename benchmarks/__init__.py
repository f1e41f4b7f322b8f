"""Speed beside other software: ``python -m benchmarks``, each line with its goal and its answer."""
