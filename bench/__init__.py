"""The speed harness: ours and its peers, one run, one machine, ratios that count.

`python -m bench nearest|search|first_answer|embed|sync|growth|install [--json]`
"""
