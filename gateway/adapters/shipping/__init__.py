"""The log off this host as it happens: every record that was committed, to a file, a syslog server or a collector.

The log itself is the outbox. Each sink has a place in it that outlives the process, and reads on from there by itself, after the
commit and beside the calls: one that is down loses nothing and holds nobody up.
"""
