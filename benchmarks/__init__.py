"""Benchmarks of the shipped pipeline."""
