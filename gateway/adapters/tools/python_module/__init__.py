"""Tools of other people: decorated functions of installed packages and of modules that the operator names."""
