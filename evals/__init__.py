"""The quality harness: how often the right piece comes first, on sets anyone can get.

`python -m evals chunking|code_search|locomo|scifact [--embedder NAME] [--data DIR] [--repos DIR] [--json]`
"""
