"""Check metadata against the contract of its layer, and complete it with what the rest of the statement says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lamina.atom.kinds import Layer, kind_traits
from lamina.atom.provenance import Origin
from lamina.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class MetadataContract:
    """The keys that the metadata of some statements must have. Any of `markers` declares that it is one of them."""

    noun: str
    layer: Layer
    markers: frozenset[str]
    required: tuple[str, ...]


PROFILE_VALUE = MetadataContract(
    "a profile value", Layer.PROFILE, frozenset({"profile_key"}), ("profile_key", "value", "reason")
)
ABSTRACTION = MetadataContract(
    "an abstraction", Layer.SEMANTIC, frozenset({"topic_tags", "compacted_from"}), ("origin", "topic_tags")
)
RADAR_RECORD = MetadataContract(
    "a radar record",
    Layer.SEMANTIC,
    frozenset({"repo_slug", "source_handle"}),
    ("origin", "repo_slug", "source_handle", "source_url", "topic_tags", "confidence", "evidence_refs"),
)
PROCEDURE = MetadataContract(
    "a procedure of a workflow", Layer.PROCEDURAL, frozenset({"workflow", "canonical"}), ("workflow", "canonical")
)
CONTRACTS = (PROFILE_VALUE, RADAR_RECORD, ABSTRACTION, PROCEDURE)
_DEFAULT_KINDS = {PROFILE_VALUE: "preference", PROCEDURE: "procedure"}


def complete_metadata(fields: Mapping[str, Any], reason: str | None, origin: Origin) -> dict[str, Any]:
    """Return a statement's fields with its metadata completed; InvalidInput names the keys that a contract misses.

    `reason` is the one that the caller gave. Metadata that declares no contract stays as it is.
    """
    metadata = fields.get("metadata")
    if not isinstance(metadata, Mapping):
        return dict(fields)
    contract = _find_contract(fields, metadata, origin)
    if contract is None:
        return dict(fields)
    stated = {
        "value": fields.get("value"),
        "reason": reason,
        "topic_tags": fields.get("tags"),
        "origin": origin.value,
        "canonical": False,
    }
    completed = {name: stated[name] for name in contract.required if stated.get(name) is not None} | dict(metadata)
    missing = [name for name in contract.required if _is_empty(completed.get(name))]
    if missing:
        keys = ", ".join(contract.required)
        raise InvalidInput(f"{contract.noun} needs {' and '.join(missing)} in its metadata; its keys are {keys}")
    completed |= _check_types(completed, contract)
    defaults: dict[str, Any] = {"kind": _DEFAULT_KINDS[contract]} if contract in _DEFAULT_KINDS else {}
    if contract is PROFILE_VALUE:
        defaults |= {"layer": Layer.PROFILE, "value": completed["value"]}
    return {**defaults, **fields, "metadata": completed}


def _find_contract(fields: Mapping[str, Any], metadata: Mapping[str, Any], origin: Origin) -> MetadataContract | None:
    """Return the contract that the metadata declares by its keys, or by the layer and one of the required keys."""
    kind, layer = fields.get("kind"), fields.get("layer")
    if isinstance(kind, str) and kind_traits(kind).is_episode:
        return None
    for contract in CONTRACTS:
        is_declared = bool(contract.markers & metadata.keys())
        is_in_layer = layer == contract.layer and bool(metadata.keys() & set(contract.required))
        if contract is PROCEDURE and isinstance(kind, str) and layer is None:
            is_declared = is_declared and kind_traits(kind).layer is Layer.PROCEDURAL
        if contract is RADAR_RECORD:
            is_declared = metadata.get("origin", origin) == Origin.RADAR and (is_declared or "topic_tags" in metadata)
            is_in_layer = False
        if is_declared or is_in_layer:
            return contract
    return None


def _is_empty(value: object) -> bool:
    return value is None or value in ((), []) or (isinstance(value, str) and not value.strip())


def _check_types(metadata: Mapping[str, Any], contract: MetadataContract) -> dict[str, Any]:
    """Return the values that a contract limits to a type; InvalidInput for another one."""
    checked: dict[str, Any] = {}
    if "canonical" in contract.required:
        canonical = str(metadata["canonical"]).lower()
        if canonical not in ("true", "false"):
            raise InvalidInput(f"canonical in the metadata of {contract.noun} must be true or false")
        checked["canonical"] = canonical == "true"
    if "confidence" in contract.required:
        confidence = metadata["confidence"]
        if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
            raise InvalidInput(f"confidence in the metadata of {contract.noun} must be a number from 0 to 1")
    return checked
