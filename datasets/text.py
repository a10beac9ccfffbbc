"""Which encoding a game record's bytes are in: what it declares if that fits, a guess otherwise."""

from __future__ import annotations

import codecs
import re

# Candidates for bytes that are no UTF-8; the first of equally good ones is taken.
_CANDIDATES = ("cp949", "shift_jis", "gb18030", "big5")
_KANA = re.compile("[\u3040-\u30ff]")
_CHUNK = re.compile(rb"[\x80-\xff][\x40-\xff]*")
_CA = re.compile(rb"CA\s*\[\s*([A-Za-z0-9_\-:. ]{1,40}?)\s*\]")
FEW_SIGNS = (
    3  # Korean syllables are also frequent Chinese signs: fewer than this many do not speak for Korean
)
FEW_SIGNS_FACTOR = 0.5
SAMPLE_BYTES = 65_536  # a guess looks at no more than this
DAMAGED_SHARE = (
    0.5  # UTF-8 in which more than this share of the foreign bytes is whole counts as damaged UTF-8
)


def declared_encoding(data: bytes) -> str | None:
    """The codec that the first CA property names, None if there is none or Python does not know it."""
    match = _CA.search(data, 0, SAMPLE_BYTES)
    if match is None:
        return None
    try:
        return codecs.lookup(match[1].decode("ascii").strip()).name
    except LookupError:
        return None


def detect_encoding(data: bytes) -> str:
    """A Python codec name for the bytes: "ascii", "utf-8", "gb18030", "big5", "cp949", "shift_jis", "latin-1"
    ...

    A declared encoding wins if the bytes fit it, then UTF-8 (even somewhat damaged), then the best guess.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    if data.isascii():
        return "ascii"
    declared = declared_encoding(data)
    if declared and declared not in ("ascii", "iso8859-1") and _fits(data, declared):
        return declared
    if _fits(data, "utf-8"):
        return "utf-8"
    foreign = b" ".join(_CHUNK.findall(data[:SAMPLE_BYTES]))
    if _whole_utf8_share(foreign) > DAMAGED_SHARE:
        return "utf-8"
    best, best_score = "latin-1", 0.0
    for codec in _CANDIDATES:
        score = _score(data, foreign, codec)
        if score > best_score:
            best, best_score = codec, score
    return declared if best == "latin-1" and declared else best


def _fits(data: bytes, codec: str) -> bool:
    try:
        data.decode(codec)
    except (UnicodeDecodeError, LookupError, ValueError):
        return False
    return True


def _whole_utf8_share(foreign: bytes) -> float:
    """The share of non-ASCII bytes that belong to whole multi-byte UTF-8 characters."""
    total = sum(byte >= 0x80 for byte in foreign)
    text = foreign.decode("utf-8", errors="ignore")
    whole = sum(len(sign.encode("utf-8")) for sign in text if ord(sign) >= 0x800)
    return whole / total if total else 0.0


def _score(data: bytes, foreign: bytes, codec: str) -> float:
    """How well the bytes read in this encoding, 0 (not at all) to 1."""
    if not _fits(data, codec):
        return 0.0
    signs = [sign for sign in foreign.decode(codec, errors="replace") if ord(sign) >= 0x80]
    if not signs:
        return 0.0
    share = sum(_speaks_for(sign, codec) for sign in signs) / len(signs)
    return share * FEW_SIGNS_FACTOR if codec == "cp949" and len(signs) < FEW_SIGNS else share


def _speaks_for(sign: str, codec: str) -> bool:
    """Whether a sign is one that texts in this encoding are made of: kana, frequent syllables, frequent
    signs.
    """
    if codec == "shift_jis":
        return bool(_KANA.match(sign))
    encoded = sign.encode(codec, errors="replace")
    if len(encoded) != 2:
        return False
    if codec == "cp949":  # the syllables of KS X 1001
        return 0xB0 <= encoded[0] <= 0xC8 and encoded[1] >= 0xA1
    if codec == "gb18030":  # the first level of GB 2312
        return 0xB0 <= encoded[0] <= 0xD7 and encoded[1] >= 0xA1
    return 0xA4 <= encoded[0] <= 0xC6  # the first level of Big5


def decode_value(value: bytes, codec: str) -> str:
    """A property's text; bytes that do not fit become the replacement character, never an error."""
    return value.decode("utf-8" if codec in ("ascii", "utf-16") else codec, errors="replace")
