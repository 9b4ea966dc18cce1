"""The world behind the ports: one folder per family, each a stranger to the others, each library behind one door."""
