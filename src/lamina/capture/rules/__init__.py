"""The rules extractor: statements read off plain grammar, without a model."""
