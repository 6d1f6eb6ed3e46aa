"""The paper's figures from our own runs, each with what the paper printed."""
