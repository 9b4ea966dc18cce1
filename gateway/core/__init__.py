"""The rules of the gateway, as pure functions and values.

Nothing here waits, reads a clock, draws a random number, logs or does input or output: times and ids are passed in as values,
and verdicts are returned as values. Every other package may import this one; this one imports none of them.
"""
