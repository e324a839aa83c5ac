"""Slow, broken and hostile clients: memory stays bounded and good clients are served."""
