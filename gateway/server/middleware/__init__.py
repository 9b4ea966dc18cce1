"""What wraps every request: the Host gate, the headers of every answer, and the error boundary."""
