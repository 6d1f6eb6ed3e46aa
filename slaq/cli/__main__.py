"""`python -m slaq.cli`: the command line without an installed script."""

from slaq.cli import main

main()
