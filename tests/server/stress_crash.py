"""Many small jobs, a daemon that is killed again and again: every job ends with one verified proof."""
