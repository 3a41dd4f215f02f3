"""`python -m lamina`."""

from lamina.cli import main

main()
