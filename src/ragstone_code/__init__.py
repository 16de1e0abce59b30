"""Framework knowledge for Ragstone: evaluators for PHP and Python, framework adapters, questions about code.

A plug-in in the same distribution. Ragstone finds it by entry point.
"""
