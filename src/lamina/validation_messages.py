"""Says in plain words what is wrong with a value that pydantic did not accept, the same on every surface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MUST_BE = "must be "
_MAX_LENGTH = 300
_TIME = "must be a date or a time, such as 2026-03-02 or 2026-03-02T09:00Z"
_TEMPLATES = {
    "missing": "is required",
    "missing_argument": "is required",
    "extra_forbidden": "unknown argument",
    "string_type": "must be text",
    "string_unicode": "must be text",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "enum": "must be {expected}",
    "literal_error": "must be {expected}",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "sequence_str": "must be a list",
    "set_type": "must be a set",
    "frozen_set_type": "must be a set",
    "iterable_type": "must be a list",
    "too_short": "must have at least {min_length} items",
    "too_long": "must have at most {max_length} items",
    "dict_type": "must be an object",
    "mapping_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "dataclass_type": "must be an object",
    "dataclass_exact_type": "must be a {class_name}",
    "date_type": "must be a date",
    "datetime_type": _TIME,
    "datetime_parsing": _TIME,
    "datetime_from_date_parsing": _TIME,
    "callable_type": "must be a function",
    "json_invalid": "is not valid JSON",
}
_CLASS_NAMES = {"Sequence": "a list", "Set": "a set", "Mapping": "an object", "PathLike": "a path"}


def describe_fault(fault: Mapping[str, Any]) -> str:
    """Return what is wrong, to be read after the name of the argument; the value itself is not repeated."""
    kind, details = str(fault.get("type", "")), fault.get("ctx") or {}
    if kind == "is_instance_of":
        name = str(details["class"]).rpartition(".")[2]
        return MUST_BE + _CLASS_NAMES.get(name, f"a {name}")
    if kind == "string_pattern_mismatch":
        return f"must match the pattern {details['pattern']}"
    template = _TEMPLATES.get(kind)
    if template is not None:
        return template.format(**details)
    return str(fault.get("msg", "is not valid")).removeprefix("Value error, ")[:_MAX_LENGTH]
