"""Redaction: secrets are replaced before anything else is done with a text."""

from lamina.capture.redact.redaction import Redacted, Secret, redact

__all__ = ["Redacted", "Secret", "redact"]
