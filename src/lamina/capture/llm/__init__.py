"""Statements and change nominations of a language model, checked against the words before they are used."""
