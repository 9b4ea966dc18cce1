"""A gateway of its own for one look at all four decisions: a throw-away state, a person made of code, the stub model."""
