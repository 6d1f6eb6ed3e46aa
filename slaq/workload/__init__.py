"""Real MLlib training jobs in streams: what the demo shows and the end-to-end benchmarks measure."""
