"""`python -m tailback` is the `tailback` command."""

from tailback.cli.main import main

main()
