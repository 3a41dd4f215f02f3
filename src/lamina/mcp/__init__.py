"""The MCP server: ten tools, four resources and two prompts over an opened memory.

It translates and decides nothing. Its top-level imports are light: a host waits for the list of tools, so the engine is
loaded in the background, after the list was sent or when a tool is called.
"""
