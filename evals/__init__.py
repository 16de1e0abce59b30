"""The quality harness: how often the right piece comes first, on sets anyone can get.

`python -m evals chunking|code_search|locomo|scifact [--embedder NAME] [--data DIR] [--repos DIR] [--json]`
`python -m evals tune [--data DIR] [--repos DIR] [--keep DIR]` cross-validates the numbers of ranking over the sets.
"""
