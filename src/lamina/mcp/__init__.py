"""The MCP server: ten tools, four resources and two prompts over an opened memory, for any agent that speaks MCP.

It translates and decides nothing. What it imports at the top is light: a host waits for the list of tools, so the
engine is loaded beside it, when that list is out or the first tool is called.
"""
