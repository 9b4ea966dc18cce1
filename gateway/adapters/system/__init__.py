"""Time and randomness of the machine, behind the Clock and Entropy ports."""
