"""Embedding models, the state model and its companions, language models, rerankers, and their files."""
