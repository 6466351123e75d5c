"""Checks a proof with nothing but Python's standard library, from docs/formats/proof.md.

Usage: check_proof.py FILE [VERIFIER_KEY]. Prints the entry's task and checksum; exits 1 where the
proof does not hold. Ed25519 is that of RFC 8032, section 6, for checking alone.
"""
import base64
import hashlib
import json
import sys

P = 2**255 - 19
Q = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)


def add(a, b):
    m, n = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    c, d = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    e, f, g, h = n - m, d - c, d + c, n + m
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(scalar, point):
    result = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            result = add(result, point)
        point, scalar = add(point, point), scalar >> 1
    return result


def recover_x(y, sign):
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P:
        x = x * ROOT % P
    assert (x * x - x2) % P == 0, "not a point"
    return P - x if x & 1 != sign else x


def point(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    x = recover_x(y, sign)
    return x, y, 1, x * y % P


BASE_Y = 4 * pow(5, P - 2, P) % P
BASE_X = recover_x(BASE_Y, 0)
BASE = BASE_X, BASE_Y, 1, BASE_X * BASE_Y % P


def is_signed(public, message, signature):
    s = int.from_bytes(signature[32:], "little")
    hashed = hashlib.sha512(signature[:32] + public + message).digest()
    h = int.from_bytes(hashed, "little") % Q
    left, right = times(s, BASE), add(point(signature[:32]), times(h, point(public)))
    same_x = (left[0] * right[2] - right[0] * left[2]) % P == 0
    same_y = (left[1] * right[2] - right[1] * left[2]) % P == 0
    return s < Q and same_x and same_y


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def root_of(leaf, index, size, path):
    last, root = size - 1, leaf
    for node in path:
        assert last, "the path is too long"
        if index & 1 or index == last:
            root = sha256(b"\x01", node, root)
            while index and not index & 1:
                index, last = index >> 1, last >> 1
        else:
            root = sha256(b"\x01", root, node)
        index, last = index >> 1, last >> 1
    assert last == 0, "the path is too short"
    return root


def check(text, key):
    proof, note = text.split("\n\n", 1)
    first, extra, index, *path = proof.split("\n")
    assert first == "c2sp.org/tlog-proof@v1", "not a proof"
    vkey, record = base64.b64decode(extra.removeprefix("extra ")).split(b"\n", 1)
    index = int(index.removeprefix("index "))
    name, key_id, public = (key or vkey.decode()).split("+", 2)
    public = base64.b64decode(public)
    assert public[:1] == b"\x01" and len(public) == 33, "not a key of Ed25519"
    assert sha256(name.encode(), b"\n", public)[:4].hex() == key_id, "not the key's id"

    body, signatures = note.rsplit("\n\n", 1)
    body += "\n"
    origin, size, root = body.split("\n")[:3]
    assert origin == name, "the key is of another log"
    lines = [line.split(" ") for line in signatures.strip().split("\n")]
    signed = [base64.b64decode(line[2]) for line in lines if line[:2] == ["\u2014", name]]
    signed = [line[4:] for line in signed if line[:4].hex() == key_id]
    assert signed and all(is_signed(public[1:], body.encode(), line) for line in signed), "not signed"

    path = [base64.b64decode(line) for line in path]
    found = root_of(sha256(b"\x00", record), index, int(size), path)
    assert found == base64.b64decode(root), "not in the tree"
    record = json.loads(record)
    assert record["seq"] == index + 1, "not in its place"
    entry = record["entry"]
    stated = entry.pop("checksum")
    form = json.dumps(entry, sort_keys=True, separators=(",", ":")).encode()
    assert hashlib.sha256(form).hexdigest() == stated, "not the entry's checksum"
    return entry["task_id"], stated


try:
    with open(sys.argv[1], encoding="utf-8") as file:
        print(*check(file.read(), sys.argv[2] if len(sys.argv) > 2 else None))
except (AssertionError, ValueError, KeyError) as error:
    sys.exit(f"the proof does not hold: {error}")
