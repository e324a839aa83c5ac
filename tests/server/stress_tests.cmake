# The daemon under stress: crashes, hostile clients, overhead.
