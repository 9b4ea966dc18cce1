"""What wraps every request: the Host gate, the headers that every answer carries, and the barrier no fault gets past."""
