"""How fast the gateway is, as ratios to the least that could be done on the same machine in the same minute.

`python -m bench` measures everything, `python -m bench calls` one subject. Figures go to stdout, one JSON object a line;
what is going on goes to stderr. README.md holds figures that were seen and how to read them.
"""
