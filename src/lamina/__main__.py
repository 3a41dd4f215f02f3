"""Runs the command line as `python -m lamina`."""

from lamina.cli import main

main()
