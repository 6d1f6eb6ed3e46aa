"""The paper's figures from our own runs, each beside what the paper printed."""
