"""What the stress tests of the daemon share: parameters, samples, a daemon that can be killed."""
