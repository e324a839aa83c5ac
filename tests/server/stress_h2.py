"""HTTP/2 frames and a small gRPC client, for the stress tests of the daemon."""
