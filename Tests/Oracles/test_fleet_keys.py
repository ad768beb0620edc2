"""Identity keys of a fleet, and whose an ephemeral id is, against the `cryptography` package."""
import datetime
import json
import stat

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import fleets
import pharos

EPOCH = datetime.datetime(2026, 3, 1, 12, tzinfo=datetime.UTC)


def block(key: bytes, text: bytes) -> bytes:
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    return encryptor.update(text) + encryptor.finalize()


def ephemeral_id(key: bytes, seconds: int, exponent: int = 10) -> str:
    temporary = block(key, bytes(11) + b"\xFF" + bytes(2) + (seconds >> 16).to_bytes(2, "big"))
    start = seconds >> exponent << exponent
    return block(temporary, bytes(11) + bytes([exponent]) + start.to_bytes(4, "big"))[:8].hex()


def time_of(seconds: int) -> str:
    return (EPOCH + datetime.timedelta(seconds=seconds - 65280)).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.fixture
def fleet(tmp_path):
    directory = tmp_path / "files"
    directory.mkdir()
    fleets.write(directory, [fleets.beacon(0), *(fleets.rotating(number) for number in range(1, 6))])
    return directory


def keys(directory) -> dict[str, bytes]:
    return {path.name: bytes.fromhex(path.read_text()) for path in sorted(directory.glob("*.key"))}


def test_keys_are_made_once_for_their_owner_alone(fleet):
    made = json.loads(pharos.checked("fleet", "keys", "generate", fleet, "--json").out)
    assert made["made"] == [f"hall-{n}" for n in range(1, 6)] and not made["kept"]
    first = keys(fleet.parent / "keys")
    assert len(set(first.values())) == 5 and all(len(key) == 16 for key in first.values())
    for path in (fleet.parent / "keys").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE((fleet.parent / "keys").stat().st_mode) == 0o700
    again = json.loads(pharos.checked("fleet", "keys", "generate", fleet, "--replace", "hall-2", "--json").out)
    assert (again["made"], again["replaced"]) == ([], ["hall-2"])
    second = keys(fleet.parent / "keys")
    assert [name for name in first if first[name] != second[name]] == ["hall-2.key"]
    refused = pharos.run("fleet", "keys", "generate", fleet, "--replace", "hall-0")
    assert refused.code == 64 and "hall-0" in refused.err


def test_both_sides_agree_on_the_same_keys(fleet):
    secret = fleet / "resolver.key"
    public = pharos.checked("fleet", "keys", "agree", "--resolver-key-file", secret).out.strip()
    assert len(public) == 64 and stat.S_IMODE(secret.stat().st_mode) == 0o600
    pharos.checked("fleet", "keys", "agree", fleet, "--keys", fleet / "beacons", "--resolver-public-key", public)
    mine = fleet / "mine"
    mine.mkdir()
    for path in (fleet / "beacons").glob("*.pub"):
        (mine / path.name).write_bytes(path.read_bytes())
    pharos.checked("fleet", "keys", "agree", fleet, "--keys", mine, "--resolver-key-file", secret)
    assert keys(mine) == keys(fleet / "beacons") and len(keys(mine)) == 5
    # What is there and is another key stays, and is said.
    (mine / "hall-3.key").write_text("00" * 16 + "\n")
    refused = pharos.run("fleet", "keys", "agree", fleet, "--keys", mine, "--resolver-key-file", secret)
    assert refused.code == 78 and "hall-3.key differs from the key that was agreed on" in refused.err
    assert keys(mine)["hall-3.key"] == bytes(16)
    (mine / "hall-5.key.pub").unlink()
    (mine / "hall-3.key").unlink()
    refused = pharos.run("fleet", "keys", "agree", fleet, "--keys", mine, "--resolver-key-file", secret)
    assert refused.code == 66 and "hall-5" in refused.err


@pytest.mark.parametrize("seconds", [65280, 65536, 65536 * 7 - 1, 2_000_000_000])
def test_an_id_is_resolved_in_its_window_and_one_beside(fleet, seconds):
    pharos.checked("fleet", "keys", "generate", fleet)
    heard = ephemeral_id(keys(fleet.parent / "keys")["hall-4.key"], seconds)
    start = seconds >> 10 << 10

    def resolve(at: int, *options) -> dict:
        result = pharos.run("fleet", "keys", "resolve", heard, fleet, "--at", time_of(at), "--json", *options)
        answer = json.loads(result.out)
        assert result.code == (0 if answer["beacons"] else 1)
        return answer

    for at in (seconds, start - 1024, start + 2047):
        (beacon,) = resolve(at)["beacons"]
        assert beacon["name"] == "hall-4" and beacon["counter"] == start
        assert (beacon["from"], beacon["to"]) == (time_of(start), time_of(start + 1024))
    for at in (start - 1025, start + 2048):
        assert resolve(at)["beacons"] == []
        assert resolve(at, "--drift-s", "1025")["beacons"][0]["name"] == "hall-4"
    assert resolve(start - 1, "--drift-s", "0")["beacons"] == []


def test_an_id_of_nobody_is_of_nobody(fleet):
    pharos.checked("fleet", "keys", "generate", fleet)
    result = pharos.run("fleet", "keys", "resolve", "0011223344556677", fleet)
    assert result.code == 1 and "belongs to none of 5 beacons" in result.err and "keys-before" not in result.err
    pharos.checked("fleet", "keys", "rotate", fleet, "--all")
    result = pharos.run("fleet", "keys", "resolve", "0011223344556677", fleet)
    (former,) = fleet.parent.glob("keys-before-*")
    assert f"if the keys were replaced after that time, try `--keys {former}`" in result.err


def test_missing_and_readable_keys_are_said(fleet):
    pharos.checked("fleet", "keys", "generate", fleet)
    (fleet.parent / "keys" / "hall-1.key").unlink()
    result = pharos.run("fleet", "keys", "resolve", "0011223344556677", fleet)
    assert result.code == 1 and "1 beacon has no key" in result.err
    (fleet.parent / "keys" / "hall-2.key").chmod(0o644)
    result = pharos.run("fleet", "keys", "resolve", "0011223344556677", fleet)
    assert result.code == 78 and "hall-2.key" in result.err and "chmod 600" in result.err


def test_two_beacons_never_share_a_key(tmp_path):
    beacons = [fleets.rotating(1), fleets.rotating(2)]
    beacons[1]["advertisements"][0]["identityKeyFile"] = "/etc/pharos/keys/hall-1.key"
    fleets.write(tmp_path, beacons)
    result = pharos.run("fleet", "keys", "generate", tmp_path)
    assert result.code == 78 and "hall-2 and hall-1 would share" in result.err
    assert not (tmp_path / "keys").exists()


def test_a_ring_answers_as_the_single_files_do(fleet):
    pharos.checked("fleet", "keys", "generate", fleet)
    (fleet.parent / "keys" / "hall-2.key").unlink()
    ring = fleet / "ring"
    made = pharos.checked("fleet", "keys", "collect", fleet, "--output", ring)
    assert "4 identity keys" in made.out and "1 beacon has no key" in made.err
    assert stat.S_IMODE(ring.stat().st_mode) == 0o600
    lines = {entry["name"]: entry for entry in json.loads(ring.read_text())["keys"]}
    assert {name: bytes.fromhex(entry["key"]) for name, entry in lines.items()} == {
        name.removesuffix(".key"): key for name, key in keys(fleet.parent / "keys").items()}
    assert lines["hall-4"]["rotationExponents"] == [10] and lines["hall-4"]["eidEpoch"] == "2026-03-01T12:00:00Z"
    for seconds in (65280, 70000, 2_000_000_000):
        heard = ephemeral_id(bytes.fromhex(lines["hall-4"]["key"]), seconds)
        for at in (seconds, seconds + 1024, seconds + 5000):
            question = ("fleet", "keys", "resolve", heard)
            one = pharos.run(*question, fleet, "--at", time_of(at), "--json")
            other = pharos.run(*question, ring, "--at", time_of(at), "--json")
            assert one.code == other.code == (1 if at > seconds + 1024 else 0)
            assert {**json.loads(one.out), "withoutKey": 0} == json.loads(other.out)
    ring.chmod(0o640)
    refused = pharos.run("fleet", "keys", "resolve", "0011223344556677", ring)
    assert refused.code == 78 and "chmod 600" in refused.err
    ring.chmod(0o600)
    ring.write_text(ring.read_text().replace('"key":"', '"key":"x', 1))
    refused = pharos.run("fleet", "keys", "resolve", "0011223344556677", ring)
    assert refused.code == 65 and ":2:1: this is not a file of keys" in refused.err
    assert keys(fleet.parent / "keys")["hall-1.key"].hex() not in refused.err
    missing = pharos.run("fleet", "keys", "collect", fleet, "--output", fleet / "no" / "ring")
    assert missing.code == 66


def test_a_key_that_cannot_be_read_ends_a_rotation_before_it_begins(fleet):
    pharos.checked("fleet", "keys", "generate", fleet)
    before = keys(fleet.parent / "keys")
    bad = fleet.parent / "keys" / "hall-3.key"
    bad.chmod(0o644)
    refused = pharos.run("fleet", "keys", "rotate", fleet, "--all")
    assert refused.code == 78 and "hall-3.key" in refused.err
    assert keys(fleet.parent / "keys") == before
    assert not list(fleet.parent.glob("keys-before-*"))


def test_missing_public_keys_are_no_fleet_without_keys(fleet):
    secret = fleet / "resolver.key"
    pharos.checked("fleet", "keys", "agree", "--resolver-key-file", secret)
    result = pharos.run("fleet", "keys", "agree", fleet, "--resolver-key-file", secret)
    assert result.code == 66 and "No beacon of this fleet" not in result.out
