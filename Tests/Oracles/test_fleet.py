"""The fleet commands as users run them: after a failure or an interruption there are whole files or none."""
import csv
import hashlib
import io
import json
import os
import pty
import random
import re
import select
import shutil
import signal
import subprocess
import time

import jsonschema
import pytest

from pathlib import Path

import pharos

ROOT = Path(__file__).resolve().parents[2]
PROFILE = jsonschema.Draft202012Validator(
    json.loads((ROOT / "profiles" / "schema" / "beacon.schema.json").read_text(encoding="utf-8")))


def fleet(folder: Path, count: int, interval: int = 500) -> Path:
    """A fleet of so many beacons from a table."""
    (folder / "boxes.csv").write_text(
        "name,site,page\n" + "".join(f"box-{n},site-{n % 7},p{n}\n" for n in range(count)), encoding="utf-8")
    file = folder / "fleet.json"
    file.write_text(json.dumps({
        "version": 1, "name": "made",
        "template": {"advertisements": [
            {"type": "ibeacon", "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "major": "${major}",
             "minor": "${minor}", "intervalMs": interval, "measuredPowerDbm": -59},
            {"type": "eddystone-url", "url": "https://e.org/${page}", "intervalMs": 1000, "measuredPowerDbm": -18}]},
        "identities": {"major": {"per": "site"}, "minor": {"within": "site"}},
        "beacons": {"csv": "boxes.csv"}}), encoding="utf-8")
    return file


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def stamps(folder: Path) -> dict[str, tuple]:
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.iterdir()}


def generate(file: Path, folder: Path, *options: str) -> pharos.Result:
    return pharos.run("fleet", "generate", file, "--output", folder, *options, timeout=60)


@pytest.mark.parametrize("sample", ["museum", "shop", "car-park"])
def test_a_newcomer_gets_profiles_from_a_sample(tmp_path, sample):
    made = pharos.checked("fleet", "init", sample, cwd=tmp_path)
    assert f"pharos fleet check {sample}.json" in made.out
    assert pharos.run("fleet", "init", sample, cwd=tmp_path).code == 64
    assert ": good, 5 beacons in the fleet" in pharos.checked("fleet", "check", f"{sample}.json", cwd=tmp_path).out
    result = pharos.checked("fleet", "generate", f"{sample}.json", "--output", "out", cwd=tmp_path)
    assert result.out == "out: 7 written, 0 unchanged, 0 removed; 5 new identities\n"
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert len(manifest["beacons"]) == 5
    for beacon in manifest["beacons"]:
        path = tmp_path / "out" / f"{beacon['name']}.json"
        assert beacon["profileHash"] == hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        profile = json.loads(path.read_bytes())
        assert list(PROFILE.iter_errors(profile)) == []
        assert profile["address"] == beacon["address"]
        assert pharos.run("profile", "check", path).code == 0
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out" / "manifest.csv").read_text(encoding="utf-8"))))
    assert len(rows) == sum(len(beacon["advertisements"]) for beacon in manifest["beacons"])


def test_a_second_run_touches_nothing_and_an_edit_one_file(tmp_path):
    file, out = fleet(tmp_path, 200), tmp_path / "out"
    assert generate(file, out).code == 0
    before, lock = stamps(out), stamps(tmp_path)["fleet.lock.json"]
    inode = out.stat().st_ino
    assert generate(file, out).out == f"{out}: 0 written, 202 unchanged, 0 removed\n"
    assert stamps(out) == before and stamps(tmp_path)["fleet.lock.json"] == lock and out.stat().st_ino == inode
    table = tmp_path / "boxes.csv"
    table.write_text(table.read_text(encoding="utf-8").replace(",p7\n", ",other\n"), encoding="utf-8")
    assert generate(file, out).out == f"{out}: 3 written, 199 unchanged, 0 removed\n"
    changed = {name for name, stamp in stamps(out).items() if before[name] != stamp}
    assert changed == {"box-7.json", "manifest.json", "manifest.csv"}
    assert stamps(tmp_path)["fleet.lock.json"] == lock


def test_same_input_same_octets(tmp_path):
    for name in "one", "two":
        (tmp_path / name).mkdir()
        assert generate(fleet(tmp_path / name, 100), tmp_path / name / "out").code == 0
    assert contents(tmp_path / "one" / "out") == contents(tmp_path / "two" / "out")
    locks = [(tmp_path / name / "fleet.lock.json").read_bytes() for name in ("one", "two")]
    assert locks[0] == locks[1]


@pytest.mark.long
def test_a_run_that_is_killed_leaves_the_old_files_whole(tmp_path):
    file, out = fleet(tmp_path, 1500), tmp_path / "out"
    assert generate(file, out).code == 0
    old = contents(out)
    shutil.copy(tmp_path / "fleet.lock.json", tmp_path / "kept.lock")
    fleet(tmp_path, 1500, interval=600)
    start = time.monotonic()
    assert generate(file, tmp_path / "other").code == 0
    whole = time.monotonic() - start
    new = contents(tmp_path / "other")
    assert new.keys() == old.keys() and new != old
    chance = random.Random(5)
    seen = {"old": 0, "new": 0}
    for _ in range(15):
        process = subprocess.Popen(
            [pharos.PROGRAM, "fleet", "generate", str(file), "--output", str(out)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0, whole * 1.1))
        process.send_signal(signal.SIGKILL)
        process.wait()
        found = contents(out)
        assert found in (old, new)
        seen["new" if found == new else "old"] += 1
        assert (tmp_path / "fleet.lock.json").read_bytes() == (tmp_path / "kept.lock").read_bytes()
        if found == new:
            fleet(tmp_path, 1500)
            assert generate(file, out).code == 0 and contents(out) == old
            fleet(tmp_path, 1500, interval=600)
    assert seen["old"] > 0
    assert generate(file, out).code == 0
    assert contents(out) == new
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "boxes.csv", "fleet.json", "fleet.lock.json", "kept.lock", "other", "out"]


def test_the_drafts_of_a_killed_run_go_with_a_run_that_has_nothing_to_write(tmp_path):
    folder = tmp_path / "inner"
    folder.mkdir()
    file, out = fleet(tmp_path, 3), folder / "out"
    assert generate(file, out).code == 0
    draft = folder / ".out.0123456789abcdef.pharos-draft"
    draft.mkdir()
    (draft / "box-1.json").write_text("{", encoding="utf-8")
    (folder / ".out.0123456789abcdee.pharos-draft").mkdir()
    (tmp_path / ".fleet.lock.json.0123456789abcdef.pharos-draft").write_text("{", encoding="utf-8")
    assert generate(file, out, "--dry-run").code == 0
    assert draft.exists()
    assert generate(file, out).out == f"{out}: 0 written, 5 unchanged, 0 removed\n"
    assert [path.name for path in folder.iterdir()] == ["out"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["boxes.csv", "fleet.json", "fleet.lock.json", "inner"]


def test_a_renamed_group_needs_an_answer(tmp_path):
    file, out, table = fleet(tmp_path, 21), tmp_path / "out", tmp_path / "boxes.csv"
    assert generate(file, out).code == 0
    before, lock = contents(out), (tmp_path / "fleet.lock.json").read_bytes()
    table.write_text(table.read_text(encoding="utf-8").replace("site-3", "Halle"), encoding="utf-8")
    check = pharos.run("fleet", "check", file)
    assert check.code == 0
    renamed = "name: 3 beacons would get other identities: box-3, box-10, box-17 (rows 5 to 19); "
    assert f"boxes.csv:5:1: warning: {renamed}" in check.out
    assert f"run `pharos fleet rename {file} site-3 Halle`" in check.out
    refused = generate(file, out)
    assert refused.code == 78
    assert refused.err.rstrip().endswith("nothing was changed; if that is intended, add `--renumber`")
    dry = generate(file, out, "--dry-run")
    assert dry.code == 0 and dry.out.endswith("; this was a dry run, and nothing was changed\n"), dry
    assert "3 beacons would get other identities, which needs --renumber" in dry.err
    assert contents(out) == before and (tmp_path / "fleet.lock.json").read_bytes() == lock
    for answer, code in ("n", 78), ("y", 0):
        main, terminal = pty.openpty()
        with subprocess.Popen([pharos.PROGRAM, "fleet", "generate", str(file), "--output", str(out)],
                              stdin=terminal, stdout=subprocess.DEVNULL, stderr=terminal) as process:
            os.close(terminal)
            os.write(main, f"{answer}\n".encode())
            assert process.wait(30) == code
        assert b"Give them other identities? [y/N]: " in os.read(main, 1 << 16)
        os.close(main)
    assert contents(out) != before
    # The way back keeps the first identities.
    renamed = pharos.checked("fleet", "rename", file, "site-3", "Halle")
    assert renamed.out.startswith("The group site-3 is now Halle; 3 beacons keep their identities. Changed ")
    assert generate(file, out).code == 0
    assert contents(out)["box-3.json"] == before["box-3.json"]
    assert pharos.checked("fleet", "rename", file, "Halle", "site-3").code == 0
    assert generate(file, out).code == 0
    assert contents(out) == before


def test_a_newcomer_is_asked_about_columns_that_are_not_guessed(tmp_path):
    (tmp_path / "boxes.csv").write_text("name,Farbe\na,rot\n", encoding="utf-8")
    main, terminal = pty.openpty()
    with subprocess.Popen([pharos.PROGRAM, "fleet", "init", "--from", "boxes.csv"], cwd=tmp_path, stdin=terminal,
                          stdout=subprocess.DEVNULL, stderr=terminal) as process:
        os.close(terminal)
        os.write(main, b"\nFarbe\n")
        assert process.wait(30) == 0
    os.close(main)
    assert json.loads((tmp_path / "boxes.json").read_text())["beacons"]["columns"] == {"title": "Farbe"}


def test_a_question_stays_on_the_terminal(tmp_path):
    """The progress line, which appears after a second, does not overwrite it."""
    file, out, table = fleet(tmp_path, 21), tmp_path / "out", tmp_path / "boxes.csv"
    assert generate(file, out).code == 0
    table.write_text(table.read_text(encoding="utf-8").replace("site-3", "Halle"), encoding="utf-8")
    main, terminal = pty.openpty()
    with subprocess.Popen([pharos.PROGRAM, "fleet", "generate", str(file), "--output", str(out)], stdin=terminal,
                          stdout=subprocess.DEVNULL, stderr=terminal, env={**os.environ, "TERM": "xterm"}) as process:
        os.close(terminal)
        text = b""
        while not text.endswith(b"[y/N]: "):
            text += os.read(main, 1 << 16)
        assert select.select([main], [], [], 3)[0] == []
        os.write(main, b"n\n")
        assert process.wait(30) == 78
    os.close(main)


def test_a_full_disk_leaves_the_old_files_whole(tmp_path):
    """On a file system of 300 kB, in a mount namespace of its own."""
    script = f"""
        set -e
        mount -t tmpfs -o size=300k tmpfs {tmp_path}/disk
        cp {tmp_path}/small.json {tmp_path}/boxes.csv {tmp_path}/disk/
        cd {tmp_path}/disk
        {pharos.PROGRAM} fleet generate small.json --output out
        md5sum out/* small.lock.json > {tmp_path}/before
        cp {tmp_path}/fleet.json small.json
        code=0
        {pharos.PROGRAM} fleet generate small.json --output out 2> {tmp_path}/errors || code=$?
        md5sum out/* small.lock.json > {tmp_path}/after
        ls -A > {tmp_path}/left
        exit $code
        """
    (tmp_path / "disk").mkdir()
    fleet(tmp_path, 40).rename(tmp_path / "small.json")
    fleet(tmp_path, 40, interval=700)
    done = subprocess.run(["unshare", "-Urm", "sh", "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 71, done.stderr
    assert "the disk is full; nothing was changed" in (tmp_path / "errors").read_text(encoding="utf-8")
    assert (tmp_path / "after").read_bytes() == (tmp_path / "before").read_bytes()
    left = (tmp_path / "left").read_text(encoding="utf-8").split()
    assert left == ["boxes.csv", "out", "small.json", "small.lock.json"]


@pytest.mark.parametrize("name, text, said", [
    ("notes.txt", "mine", "contains \"notes.txt\" and no manifest.json"),
    ("manifest.json", "{}", "`pharos fleet generate` did not write this file"),
    (
        "manifest.json", '{"version":1,"fleet":"other","beacons":[\n]}\n',
        "this directory contains the fleet other, not made",
    ),
])
def test_folders_of_others_are_left_alone(tmp_path, name, text, said):
    file, out = fleet(tmp_path, 3), tmp_path / "out"
    out.mkdir()
    (out / name).write_text(text, encoding="utf-8")
    result = generate(file, out)
    assert result.code == 78 and said in result.err
    assert contents(out) == {name: text.encode()}
    assert not (tmp_path / "fleet.lock.json").exists()


def test_a_file_among_ours_is_left_alone(tmp_path):
    file, out = fleet(tmp_path, 3), tmp_path / "out"
    assert generate(file, out).code == 0
    (out / "mine.json").write_text("{}", encoding="utf-8")
    fleet(tmp_path, 4)
    result = generate(file, out)
    assert result.code == 78 and "`pharos fleet generate` did not make \"mine.json\"" in result.err
    assert (out / "mine.json").read_text(encoding="utf-8") == "{}"
    assert generate(file, file).code == 66


def test_a_folder_and_a_link_among_ours_are_left_alone(tmp_path):
    file, out = fleet(tmp_path, 3), tmp_path / "out"
    assert generate(file, out).code == 0
    before = stamps(out)
    for make in (lambda path: path.mkdir(), lambda path: path.symlink_to("/etc/hostname")):
        make(out / "mine")
        fleet(tmp_path, 4)
        result = generate(file, out)
        assert result.code == 78 and "did not make \"mine\"" in result.err
        left = stamps(out)
        del left["mine"]
        assert left == before
        (out / "mine").unlink() if (out / "mine").is_symlink() else (out / "mine").rmdir()
    assert generate(file, out).code == 0


@pytest.mark.parametrize("edit, said", [
    (lambda text: text.replace('"version":1', '"version":2'), "of version 2, this Pharos knows 1"),
    (lambda text: text.replace('"minor":2', '"minor":1', 1), "the check mark of this line does not match"),
    (lambda text: re.sub(',"check":"[0-9a-f]{4}"', "", text).replace('"minor":2', '"minor":1', 1),
     "both have the minor 1"),
    (lambda text: text.replace('"name":"box-1"', '"name":"../box-1"'), "would lead into another directory"),
    (lambda text: text.replace('"minor":1', '"minor":70000', 1), "70000"),
    (lambda text: text[:len(text) // 2], "fleet.lock.json:"),
])
def test_an_edited_or_newer_lock_is_refused_and_kept(tmp_path, edit, said):
    file, out = fleet(tmp_path, 15), tmp_path / "out"
    assert generate(file, out).code == 0
    lock = tmp_path / "fleet.lock.json"
    whole = lock.read_text(encoding="utf-8")
    lock.write_text(edit(whole), encoding="utf-8")
    assert lock.read_text(encoding="utf-8") != whole
    before, kept = stamps(out), lock.read_bytes()
    fleet(tmp_path, 20)
    check, made = pharos.run("fleet", "check", file), generate(file, out)
    assert check.code == 1 and said in check.out
    assert made.code in (65, 78) and said in made.err
    assert stamps(out) == before and lock.read_bytes() == kept


def test_a_run_that_is_killed_while_it_gives_identities_out_gives_none_twice(tmp_path):
    file, out, lock = fleet(tmp_path, 500), tmp_path / "out", tmp_path / "fleet.lock.json"
    assert generate(file, out).code == 0
    chance = random.Random(7)
    known = {entry["name"]: entry for entry in json.loads(lock.read_bytes())["beacons"]}
    count, seen, whole = 500, {"old": 0, "new": 0}, 0.5
    for _ in range(20):
        fleet(tmp_path, count + 500)
        before, old = contents(out), lock.read_bytes()
        start = time.monotonic()
        process = subprocess.Popen(
            [pharos.PROGRAM, "fleet", "generate", str(file), "--output", str(out)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0, whole))
        process.send_signal(signal.SIGKILL)
        if process.wait() == 0:
            whole = min(whole, time.monotonic() - start)
        entries = {entry["name"]: entry for entry in json.loads(lock.read_bytes())["beacons"]}
        found = contents(out)
        assert {name: entries[name] for name in known} == known
        assert len({(entry["in"], entry["minor"]) for entry in entries.values()}) == len(entries)
        # The lock goes first: what is on the boxes is always in it.
        assert len(found) - 2 in (count, count + 500) and len(entries) >= len(found) - 2
        assert len(entries) == count + 500 or (lock.read_bytes() == old and found == before)
        seen["new" if len(entries) > count else "old"] += 1
        if len(found) - 2 > count:
            count += 500
            known = entries
    assert seen["old"] > 0
    assert generate(file, out).code == 0


def test_only_manifests(tmp_path):
    file, out = fleet(tmp_path, 3), tmp_path / "out"
    assert generate(file, out, "--manifest-only").code == 0
    assert contents(out).keys() == {"manifest.json", "manifest.csv"}
    assert generate(file, out, "--manifest-only").out == f"{out}: 0 written, 2 unchanged, 0 removed\n"
    assert generate(file, out).out == f"{out}: 3 written, 2 unchanged, 0 removed\n"
    assert generate(file, out, "--manifest-only").code == 78


@pytest.mark.parametrize("break_it, code", [
    (lambda folder: (folder / "fleet.json").write_text("{", encoding="utf-8"), (1, 65)),
    (lambda folder: (folder / "fleet.json").unlink(), (66, 66)),
    (lambda folder: (folder / "boxes.csv").unlink(), (66, 66)),
    (lambda folder: (folder / "boxes.csv").write_text("name,site,page\n\"x", encoding="utf-8"), (1, 65)),
    (lambda folder: (folder / "boxes.csv").write_bytes(b"name,site,page\n\xff,a,b\n"), (1, 65)),
    (lambda folder: (folder / "boxes.csv").write_text("name,site,page\n../x,a,b\n", encoding="utf-8"), (1, 78)),
    (lambda folder: (folder / "fleet.lock.json").write_text("{}", encoding="utf-8"), (1, 78)),
    (lambda folder: (folder / "fleet.lock.json").write_text("{", encoding="utf-8"), (1, 65)),
])
def test_bad_input_has_its_exit_code(tmp_path, break_it, code):
    file = fleet(tmp_path, 3)
    break_it(tmp_path)
    check = pharos.run("fleet", "check", file)
    made = generate(file, tmp_path / "out")
    assert (check.code, made.code) == code, (check, made)
    assert not (tmp_path / "out").exists()


def test_diff_says_what_would_change(tmp_path):
    file, out = fleet(tmp_path, 5), tmp_path / "out"
    shutil.copy(file, tmp_path / "old.json")
    assert generate(file, out).code == 0
    lock = (tmp_path / "fleet.lock.json").read_bytes()
    same = pharos.checked("fleet", "diff", file, "--against", out)
    assert same.out == "0 added, 0 removed, 0 renamed, 0 changed, 5 unchanged\n"
    (tmp_path / "boxes.csv").write_text(
        "name,site,page,was\nbox-1,site-1,new,\nbox-2,site-2,p2,\nbox-9,site-9,p9,\nbox-x,site-3,p3,box-3\n",
        encoding="utf-8")
    expected = {
        "added": ["box-9"], "removed": ["box-0", "box-4"], "renamed": [{"name": "box-x", "was": "box-3"}],
        "changed": [{"name": "box-1", "fields": [
            {"path": "advertisements[1].url", "old": "https://e.org/p1", "new": "https://e.org/new"}]}],
        "unchanged": 1}
    for against in out, out / "manifest.json", out / "manifest.csv":
        found = json.loads(pharos.checked("fleet", "diff", file, "--against", against, "--json").out)
        changed = found["changed"][0]["fields"]
        assert [field["path"] for field in changed] == ["profileHash", "advertisements[1].url"]
        del changed[0]
        assert found == expected
    assert (tmp_path / "fleet.lock.json").read_bytes() == lock
    # An older fleet file takes its identities from its own lock, or from today's.
    (tmp_path / "old.json").write_text((tmp_path / "old.json").read_text(encoding="utf-8").replace("500", "900"))
    older = json.loads(pharos.checked("fleet", "diff", file, "--against", tmp_path / "old.json", "--json").out)
    changed = {change["name"] for change in older["changed"]}
    assert older["added"] == [] and changed == {"box-1", "box-2", "box-9", "box-x"}
    assert pharos.run("fleet", "diff", file, "--against", tmp_path / "nowhere").code == 66


def test_two_people_who_add_a_beacon_see_a_conflict(tmp_path):
    def git(*arguments, check=True):
        command = ["git", "-C", tmp_path, "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
        return subprocess.run(command, check=check, capture_output=True, text=True)

    file, table, out = fleet(tmp_path, 4), tmp_path / "boxes.csv", tmp_path / "out"
    start = table.read_text(encoding="utf-8")
    git("init", "-q", "-b", "main")

    def add(*rows):
        table.write_text(start + "".join(rows), encoding="utf-8")
        assert generate(file, out).code == 0
        git("add", "boxes.csv", "fleet.json", "fleet.lock.json")
        git("commit", "-qm", "more")

    add()
    git("checkout", "-qb", "theirs")
    add("theirs,site-1,t\n")
    git("checkout", "-q", "main")
    add("ours,site-1,o\n")
    merge = git("merge", "theirs", check=False)
    assert "CONFLICT" in merge.stdout and "fleet.lock.json" in merge.stdout
    lock = tmp_path / "fleet.lock.json"
    conflicted = lock.read_text(encoding="utf-8")
    table.write_text(start + "ours,site-1,o\ntheirs,site-1,t\n", encoding="utf-8")
    result = generate(file, out)
    assert result.code == 65 and "a merge conflict begins here" in result.err
    # Both lines kept: the same minor twice is said, with what to do.
    both = [line for line in conflicted.splitlines() if not line.startswith(("<<<<<<<", "=======", ">>>>>>>"))]
    lock.write_text("\n".join(line.rstrip(",") + ("," if line.startswith("{\"") and not line.startswith("{\"group")
                                                 and index + 1 < len(both) and both[index + 1].startswith("{") else "")
                              if line.startswith("{\"name") else line
                              for index, line in enumerate(both)) + "\n", encoding="utf-8")
    result = generate(file, out)
    assert result.code == 78
    assert "both have the minor 2 in site-1, as after a merge: delete the newer line" in result.err
    kept = lock.read_text(encoding="utf-8").splitlines()
    place = next(index for index, line in enumerate(kept) if "\"theirs\"" in line)
    del kept[place]
    kept[place - 1] = kept[place - 1].rstrip(",")
    lock.write_text("\n".join(kept) + "\n", encoding="utf-8")
    assert generate(file, out).code == 0
    minors = {entry["name"]: entry["minor"] for entry in json.loads(lock.read_text(encoding="utf-8"))["beacons"]}
    assert (minors["ours"], minors["theirs"]) == (2, 3)


@pytest.mark.parametrize("table, groups", [
    ("name,room\na,hall\nb,stairs\n", ["hall", "stairs"]),
    ("name,floor\na,ground\nb,first\n", ["ground", "first"]),
    ("name,floor,room\na,ground,hall\nb,first,hall\n", ["ground/hall", "first/hall"])])
def test_a_table_without_sites_gives_groups_of_its_outer_column(tmp_path, table, groups):
    (tmp_path / "boxes.csv").write_text(table, encoding="utf-8")
    pharos.checked("fleet", "init", "--from", "boxes.csv", cwd=tmp_path)
    pharos.checked("fleet", "generate", "boxes.json", "--output", "out", cwd=tmp_path)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert [beacon["group"] for beacon in manifest["beacons"]] == groups


def test_a_column_that_the_fleet_reads_is_not_called_unused(tmp_path):
    (tmp_path / "boxes.csv").write_text("name,floor\na,Ground floor\n", encoding="utf-8")
    refused = pharos.run("fleet", "init", "--from", "boxes.csv", cwd=tmp_path)
    assert refused.code == 65 and 'the column "floor" contains "Ground floor"' in refused.err
    (tmp_path / "boxes.csv").write_text("name,was\na,b\n", encoding="utf-8")
    assert "not used" not in pharos.checked("fleet", "init", "--from", "boxes.csv", cwd=tmp_path).out


def test_a_rule_for_minor_numbers_that_is_added_later_changes_no_identity(tmp_path):
    file = fleet(tmp_path, 3)
    made = json.loads(file.read_text(encoding="utf-8"))
    both = made["template"]["advertisements"]
    made["template"] = {"advertisements": both[1:]}
    rules = made.pop("identities")
    file.write_text(json.dumps(made), encoding="utf-8")
    generate(file, tmp_path / "out")
    addresses = [each["address"] for each in json.loads((tmp_path / "out" / "manifest.json").read_text())["beacons"]]
    made["template"]["advertisements"], made["identities"] = both, rules
    file.write_text(json.dumps(made), encoding="utf-8")
    result = generate(file, tmp_path / "out")
    assert result.code == 0, result.err
    again = json.loads((tmp_path / "out" / "manifest.json").read_text())["beacons"]
    assert [each["address"] for each in again] == addresses


def test_an_empty_name_is_no_group(tmp_path):
    (tmp_path / "boxes.csv").write_text("name\na\nb\n", encoding="utf-8")
    pharos.checked("fleet", "init", "--from", "boxes.csv", cwd=tmp_path)
    pharos.checked("fleet", "generate", "boxes.json", "--output", "out", cwd=tmp_path)
    assert pharos.run("fleet", "rename", "boxes.json", "", "new", cwd=tmp_path).code in (64, 78)


def test_a_fleet_does_not_differ_from_its_own_table(tmp_path):
    file = fleet(tmp_path, 2)
    made = json.loads(file.read_text(encoding="utf-8"))
    first = made["template"]["advertisements"][0]
    del first["intervalMs"]
    first["pattern"] = [{"intervalMs": 100, "forS": 2}, {"intervalMs": 1000, "forS": 8}]
    file.write_text(json.dumps(made), encoding="utf-8")
    pharos.checked("fleet", "generate", file, "--output", tmp_path / "out")
    same = pharos.run("fleet", "diff", file, "--against", tmp_path / "out" / "manifest.csv", "--exit-code")
    assert same.code == 0, same.out + same.err


def test_a_cell_may_hold_a_time_or_a_choice(tmp_path):
    (tmp_path / "boxes.csv").write_text("name,busy,up\na,2,true\n", encoding="utf-8")
    (tmp_path / "fleet.json").write_text(json.dumps({
        "version": 1, "name": "made",
        "template": {"advertisements": [
            {"type": "bthome", "uptime": "${up}", "intervalMs": 1000},
            {"type": "eddystone-url", "url": "https://e.org", "measuredPowerDbm": -18,
             "pattern": [{"intervalMs": 100, "forS": "${busy}"}, {"intervalMs": 1000, "forS": 8}]}]},
        "beacons": {"csv": "boxes.csv"}}), encoding="utf-8")
    checked = pharos.run("fleet", "check", tmp_path / "fleet.json")
    assert "true or false is expected" not in checked.err + checked.out
    assert "a number is expected" not in checked.err + checked.out and checked.code == 0, checked.out + checked.err


def test_a_selection_without_beacons_is_no_fleet_without_beacons(tmp_path):
    file = fleet(tmp_path, 3)
    generate(file, tmp_path / "out")
    refused = pharos.run("fleet", "list", tmp_path / "out", "--site", "site-1", "--beacon", "box-0")
    assert refused.code == 64 and "no beacon matches all of the given options" in refused.err


def test_an_export_to_ansible_removes_no_file_of_others(tmp_path):
    pharos.checked("fleet", "init", "museum", cwd=tmp_path)
    pharos.checked("fleet", "generate", "museum.json", "--output", "out", cwd=tmp_path)
    export = ("fleet", "export", "ansible", "out", "--output", "rollout")
    pharos.checked(*export, cwd=tmp_path)
    pharos.checked(*export, cwd=tmp_path)
    notes = tmp_path / "rollout" / "profiles" / "notes.txt"
    notes.write_text("mine", encoding="utf-8")
    refused = pharos.run(*export, cwd=tmp_path)
    assert refused.code == 78 and "notes.txt" in refused.err
    assert notes.read_text(encoding="utf-8") == "mine"


def test_a_list_knows_the_types_of_advertisements(tmp_path):
    file = fleet(tmp_path, 3)
    pharos.checked("fleet", "generate", file, "--output", tmp_path / "out")
    listed = pharos.checked("fleet", "list", file, "--type", "eddystone-url").out.splitlines()
    assert len(listed) == 4 and all("eddystone-url" in line for line in listed[1:])
    wrong = pharos.run("fleet", "list", file, "--type", "ibecon")
    assert wrong.code == 64 and "did you mean ibeacon?" in wrong.err
