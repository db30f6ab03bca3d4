"""`python -m tailback` is the `tailback` command."""

from tailback.cli.start import main

main()
