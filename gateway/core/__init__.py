"""The pure rules of the house.

Nothing here waits, reads a clock, draws a random number, logs or touches the world: times and ids come in as values and
verdicts go out as values. Everything above may import this room; this room imports nothing above it.
"""
