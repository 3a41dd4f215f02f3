from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lamina.vectors.integer_vectors import Floats
from lamina.vectors.quantisation import (
    BATCH_ROWS,
    CodedVectors,
    code_bytes,
    codebook_for,
    coded_bytes,
    decode,
    encode,
    from_bytes,
    pack_codes,
    to_bytes,
    unpack_codes,
)
from lamina.vectors.rotation import padded_width, rotation_for

WIDTHS = (1, 2, 7, 8, 63, 64, 65, 300, 384, 768)
BITS = (8, 4, 2)
MEAN = {8: 0.9999, 4: 0.995, 2: 0.938}
LEAST = {8: 0.999, 4: 0.988, 2: 0.915}

widths = st.sampled_from(WIDTHS)
bits_ = st.sampled_from(BITS)
seeds = st.integers(0, 2**32 - 1)


def random_vectors(shape: str, rows: int, width: int, seed: int) -> Floats:
    rng = np.random.default_rng(seed)
    stop_signal = rng.standard_normal((rows, width))
    match shape:
        case "spiky":
            stop_signal = stop_signal**5
        case "one-hot":
            stop_signal = np.eye(width)[np.arange(rows) % width] + stop_signal / 1000
        case "only one":
            stop_signal = np.eye(width)[np.arange(rows) % width]
        case _:
            pass
    return stop_signal.astype(np.float32)


def cosine(one: Floats, other: Floats) -> NDArray[np.float64]:
    a, b = one.astype(np.float64), other.astype(np.float64)
    products = (a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    return np.asarray(products, dtype=np.float64)


def all_code_bytes(coded: CodedVectors) -> bytes:
    return b"".join(to_bytes(coded))


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("width", [384, 768])
@pytest.mark.parametrize("shape", ["bell", "spiky", "one-hot", "only one"])
def test_the_direction_survives_for_any_vector(shape: str, width: int, bits: int) -> None:
    vectors = random_vectors(shape, 1000, width, 7)
    near = cosine(vectors, decode(encode(vectors, bits)))
    assert near.mean() >= MEAN[bits]
    assert near.min() >= LEAST[bits]


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("width", [65, 100, 300, 1000])
@pytest.mark.parametrize("shape", ["bell", "only one"])
def test_unusual_widths_cost_bytes_but_no_fidelity(shape: str, width: int, bits: int) -> None:
    vectors = random_vectors(shape, 300, width, 7)
    assert cosine(vectors, decode(encode(vectors, bits))).mean() >= MEAN[bits]
    assert len(to_bytes(encode(vectors, bits))[0]) == 8 + bits * padded_width(width) // 8


@pytest.mark.parametrize(("bits", "size", "ratio"), [(8, 392, 3.9), (4, 200, 7.6), (2, 104, 14.6)])
def test_a_vector_takes_the_expected_number_of_bytes(bits: int, size: int, ratio: float) -> None:
    (data,) = to_bytes(encode(random_vectors("bell", 1, 384, 1), bits))
    assert len(data) == coded_bytes(384, bits) == size
    assert coded_bytes(384, 32) / size >= ratio


@settings(deadline=None, max_examples=40)
@given(widths, bits_, st.integers(1, 40), seeds)
def test_a_vector_is_encoded_the_same_in_any_batch(width: int, bits: int, count: int, seed: int) -> None:
    vectors = random_vectors("spiky" if seed % 2 else "bell", count, width, seed)
    together = to_bytes(encode(vectors, bits))
    order = np.random.default_rng(seed).permutation(count)
    shuffled = to_bytes(encode(vectors[order], bits))
    assert [shuffled[n] for n in np.argsort(order)] == together
    assert [to_bytes(encode(vector[None, :], bits))[0] for vector in vectors] == together
    read = decode(encode(vectors, bits))
    for n in range(count):
        assert decode(from_bytes([together[n]], bits, width)).tobytes() == read[n].tobytes()


def test_rows_beyond_one_batch_are_encoded_alike() -> None:
    vectors = random_vectors("bell", 2 * BATCH_ROWS + 5, 64, 3)
    for bits in BITS:
        halves = [encode(vectors[: BATCH_ROWS + 9], bits), encode(vectors[BATCH_ROWS + 9 :], bits)]
        assert all_code_bytes(encode(vectors, bits)) == b"".join(map(all_code_bytes, halves))
        assert decode(encode(vectors, bits)).tobytes() == b"".join(decode(halve).tobytes() for halve in halves)


@pytest.mark.parametrize(
    ("bits", "digest"),
    [
        (8, "52e77d3f8075c6fb7fa80bd4bbf752e118ecea26d2a8dedb9b60186f0ca0f7d4"),
        (4, "ba3b7edc5bb308ccd0005d0dd5cc719947d4ec129571dea62440776595eac3a2"),
        (2, "242e160480a9de4103a5f3aa4cf8d5c704ecc406194756fed123d7fee95c2988"),
    ],
)
def test_codes_are_the_same_on_every_machine(bits: int, digest: str) -> None:
    vectors = ((np.arange(20 * 384).reshape(20, 384) * 7919 % 1009 - 504) ** 3).astype(np.float32)
    coded = encode(vectors, bits)
    read = decode(coded).astype("<f4").tobytes()
    assert hashlib.sha256(all_code_bytes(coded) + read).hexdigest() == digest


@pytest.mark.parametrize("bits", BITS)
def test_the_decoded_vector_keeps_its_length(bits: int) -> None:
    vectors = random_vectors("bell", 20, 300, 5) * np.logspace(-30, 30, 20, dtype=np.float32)[:, None]
    was = np.linalg.norm(vectors.astype(np.float64), axis=1)
    result = np.linalg.norm(decode(encode(vectors, bits)).astype(np.float64), axis=1)
    assert result == pytest.approx(was, rel=1e-6)


@pytest.mark.parametrize("bits", BITS)
def test_a_length_changes_no_code(bits: int) -> None:
    vectors = random_vectors("bell", 5, 384, 5)
    for scale in (2.0**-100, 2.0**100):
        scaled = encode(vectors * np.float32(scale), bits)
        assert scaled.codes.tobytes() == encode(vectors, bits).codes.tobytes()
        assert scaled.factor.tobytes() == encode(vectors, bits).factor.tobytes()


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("width", WIDTHS)
def test_a_zero_vector_round_trips(width: int, bits: int) -> None:
    vectors = np.vstack([np.zeros((1, width), np.float32), random_vectors("bell", 1, width, 2)])
    coded = encode(vectors, bits)
    assert (coded.norm[0], coded.factor[0]) == (0, 0)
    assert not decode(coded)[0].any()
    assert decode(coded)[1].any()
    assert to_bytes(coded)[1] == to_bytes(encode(vectors[1:], bits))[0]


@pytest.mark.parametrize("bits", BITS)
def test_one_dimension_is_kept_exactly(bits: int) -> None:
    vectors = np.array([[3.5], [-2.0], [1e-37], [3e38]], np.float32)
    assert decode(encode(vectors, bits)) == pytest.approx(vectors, rel=1e-6)


@pytest.mark.parametrize("bits", BITS)
def test_no_rows_are_handled(bits: int) -> None:
    none = encode(np.empty((0, 384), np.float32), bits)
    assert (len(none), to_bytes(none)) == (0, [])
    assert decode(none).shape == (0, 384)
    assert len(from_bytes([], bits, 384)) == 0


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_a_non_finite_number_is_refused(wrong: float) -> None:
    vectors = random_vectors("bell", 3, 16, 1)
    vectors[1, 3] = wrong
    with pytest.raises(ValueError, match="not finite"):
        encode(vectors, 4)


def test_an_array_of_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="two-dimensional array"):
        encode(np.ones(16, np.float32), 4)
    with pytest.raises(ValueError, match="at least one dimension"):
        encode(np.ones((3, 0), np.float32), 4)
    with pytest.raises(ValueError, match="8, 4 or 2 bits"):
        encode(np.ones((1, 16), np.float32), 32)
    with pytest.raises(ValueError, match="longer than any float32"):
        encode(np.full((1, 16), 3e38, np.float32), 4)


@settings(deadline=None, max_examples=40)
@given(widths, bits_, st.integers(0, 5), seeds)
def test_bytes_round_trip_to_the_same_codes(width: int, bits: int, count: int, seed: int) -> None:
    coded = encode(random_vectors("bell", count, width, seed), bits)
    again = from_bytes(to_bytes(coded), bits, width)
    assert (again.bits, again.width) == (bits, width)
    for name in ("norm", "factor", "codes"):
        assert getattr(again, name).tobytes() == getattr(coded, name).tobytes()
    assert again.codes.shape == (count, code_bytes(width, bits))


@pytest.mark.parametrize("bits", BITS)
def test_damaged_bytes_are_refused(bits: int) -> None:
    (data,) = to_bytes(encode(random_vectors("bell", 1, 384, 1), bits))
    for damaged in (b"", data[:-1], data + b"\0"):
        with pytest.raises(ValueError, match=rf"takes {len(data)} bytes, not {len(damaged)}"):
            from_bytes([data, damaged], bits, 384)
    for number in (np.nan, np.inf, -1):
        with pytest.raises(ValueError, match="damaged"):
            from_bytes([data[:4] + np.float32(number).astype("<f4").tobytes() + data[8:]], bits, 384)


@settings(deadline=None, max_examples=40)
@given(st.sampled_from([64, 128, 384]), bits_, st.integers(0, 4), seeds)
def test_codes_are_packed_as_planes_with_the_sign_first(width: int, bits: int, count: int, seed: int) -> None:
    codes = np.random.default_rng(seed).integers(0, 2**bits, (count, width), dtype=np.uint8)
    stored = pack_codes(codes, bits)
    assert stored.shape == (count, bits * width // 8)
    assert (unpack_codes(stored, bits) == codes).all()
    if bits < 8:
        for plane in range(bits):
            part = stored[:, plane * width // 8 : (plane + 1) * width // 8]
            assert (part == np.packbits(codes >> (bits - 1 - plane) & 1, axis=1)).all()


@pytest.mark.parametrize("bits", [4, 2])
def test_the_first_plane_is_the_sign_of_the_rotated_coordinates(bits: int) -> None:
    vectors = random_vectors("bell", 9, 384, 11)
    signs = np.packbits(rotation_for(384).apply(vectors) > 0, axis=1)
    assert (encode(vectors, bits).codes[:, : 384 // 8] == signs).all()


@pytest.mark.parametrize("bits", BITS)
def test_the_factor_corrects_the_inner_product_of_a_vector_with_itself(bits: int) -> None:
    vectors = random_vectors("bell", 50, 384, 13)
    coded = encode(vectors, bits)
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    levels = codebook_for(bits).levels[unpack_codes(coded.codes, bits)]
    path = (rotation_for(384).apply(units) * levels).sum(axis=1) / np.sqrt(384) * coded.factor
    assert path == pytest.approx(1, abs=1e-5)


def test_an_outlying_coordinate_does_not_spoil_the_rest() -> None:
    turn = rotation_for(384)
    coordinates = random_vectors("bell", 200, 384, 17)
    coordinates[np.arange(200), np.arange(200)] = 5.5
    vectors = turn.invert(coordinates)
    for bits, least in ((8, 0.9999), (4, 0.986)):
        assert cosine(vectors, decode(encode(vectors, bits))).min() >= least
