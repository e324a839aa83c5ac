"""What the daemon adds to the bare prover."""
