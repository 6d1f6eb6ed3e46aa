"""The ways in for users: unmodified programs (`slaq submit`), a running session (`attach`), and one line (`report`)."""
