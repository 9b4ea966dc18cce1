"""Anchors: the newest checkpoint of the log, kept where whoever has this host cannot change it.

Each kind has a module. `anchorer.py` follows the log for each anchor of the settings.
"""
