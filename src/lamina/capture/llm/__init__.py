"""Statements read by a chat model: each with the words it rests on, checked against them before it counts."""
