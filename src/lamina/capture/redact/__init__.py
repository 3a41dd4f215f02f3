"""Secrets out, before anything else happens to a text."""

from lamina.capture.redact.redaction import Redacted, Secret, redact

__all__ = ["Redacted", "Secret", "redact"]
