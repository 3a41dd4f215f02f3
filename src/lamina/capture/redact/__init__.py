"""Redaction: secrets are replaced before anything else is done with a text."""

from lamina.capture.redact.redaction import RedactedSecret, RedactedText, redact

__all__ = ["RedactedSecret", "RedactedText", "redact"]
