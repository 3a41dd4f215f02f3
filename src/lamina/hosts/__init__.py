"""Connects lamina to hosts, the programs that run agents: their configuration files and their hooks."""
