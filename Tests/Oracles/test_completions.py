"""What shells offer after a tab, asked of the shells themselves."""
import os
import subprocess
from pathlib import Path

import pytest

import pharos

DRIVER = Path(__file__).with_name("completions.zsh")
# Words on the line, the last one to be completed, and some of what must be offered; None is for the files there.
CASES = [
    (["plan", "interval", "--scanner", "android-l"], {"android-low-power", "android-low-latency"}),
    (["plan", "interval", "--scanners", "ios-"], {"ios-foreground", "ios-background", "ios-find-my"}),
    (["plan", "latency", "--scanner-file", "bea"], {"beacon.json"}),
    (["plan", "energy", "--chip", ""], {"nrf52832"}),
    (["advertise", "ibeacon", "--pdu", "s"], {"scannable"}),
    (["advertise", "ibeacon", "--adapter", "vi"], {"virtual"}),
    (["advertise", "ibeacon", "--flags", "0x"], {"0x06", "0x1a"}),
    (["advertise", "ibeacon", "--maj"], {"--major"}),
    (["advertise", "i"], {"ibeacon"}),
    # The word profile may be left out.
    (["advertise", "bea"], {"beacon.json"}),
    (["advertise", "x.json", "--dry"], {"--dry-run"}),
    (["advertise", "x.json", "--adapter", "vi"], {"virtual"}),
    (["advertise", "-a", "virtual", "oth"], {"other.json"}),
    (["advertise", "profile", "bea"], {"beacon.json"}),
    (["run", "x.json", "-a", "hci0:m"], {"hci0:mgmt"}),
    (["qualify", "--sender", "vi"], {"virtual"}),
    (["controller", "--like", "rasp"], {"raspberry-pi"}),
    (["fleet", "labels", "x", "--paper", "70"], {"70x37"}),
    (["fleet", "labels", "x", "--sort", ""], {"group", "name", "file"}),
    (["profile", "check", "bea"], {"beacon.json"}),
    (["run", "bea"], {"beacon.json"}),
    (["fleet", "check", "bea"], {"beacon.json"}),
    (["plan", "site", "bea"], {"beacon.json"}),
    (["listen", "bea"], {"beacon.json"}),
    (["listen", "x.json", "--adapter", "vi"], {"virtual"}),
    (["listen", "x.json", "--replay", "oth"], {"other.json"}),
    (["remove", "--profile-dir", ".", "bea"], {"beacon"}),
    (["set", "--profile-dir", ".", "oth"], {"other"}),
    (["fleet", "l"], {"labels", "list"}),
]


@pytest.fixture
def place(tmp_path):
    """A directory with files to complete, and `pharos` in PATH."""
    (tmp_path / "work").mkdir()
    for name in ("beacon.json", "other.json"):
        (tmp_path / "work" / name).touch()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "pharos").symlink_to(pharos.PROGRAM)
    return tmp_path


def script(place, shell, name):
    path = place / name
    path.write_text(pharos.checked("--generate-completion-script", shell).out)
    return path


def ask(place, command, **more):
    environment = {**os.environ, "PATH": f"{place / 'bin'}:{os.environ['PATH']}", "HOME": str(place),
                   "XDG_CONFIG_HOME": str(place), "TERM": "dumb"}
    done = subprocess.run(command, cwd=place / "work", env=environment, capture_output=True, text=True, timeout=60,
                          **more)
    return done.stdout + done.stderr


def check(words, wanted, offered):
    assert wanted <= offered, f"{' '.join(words)}: {offered}"
    # What does not match is not offered; fish also offers what has the letters elsewhere.
    assert all(words[-1] in each for each in offered), f"{' '.join(words)}: {offered}"


def test_bash(place, needs):
    """Loaded and called as bash's own completion does it, in an interactive shell."""
    path = script(place, "bash", "pharos")
    program = f"source {path}\n"
    for words, _ in CASES:
        quoted = " ".join(f"'{word}'" for word in ["pharos", *words])
        line = " ".join(["pharos", *words])
        program += f"""
COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; COMP_LINE='{line}'; COMP_POINT={len(line)}; COMP_TYPE=9; COMP_KEY=9
COMPREPLY=()
function=$(complete -p pharos | sed -E 's/.*-F ([^ ]+).*/\\1/')
"$function" pharos '{words[-1]}' '{words[-2]}' 2>/dev/null
printf '%s\\n' "${{COMPREPLY[@]}}" ==
"""
    answers = ask(place, [needs("bash"), "--norc", "--noprofile"], input=program).split("==\n")
    for (words, wanted), answer in zip(CASES, answers, strict=False):
        check(words, wanted, {each.rstrip() for each in answer.splitlines() if each})
    assert len(answers) == len(CASES) + 1


def test_fish(place, needs):
    """`complete -C` is what fish itself asks."""
    fish = needs("fish")
    path = script(place, "fish", "pharos.fish")
    for words, wanted in CASES:
        if "--profile-dir" in words:
            # The script asks fish's line editor for the line, and only an interactive fish has one.
            continue
        line = " ".join(["pharos", *words])
        answer = ask(place, [fish, "--no-config", "-c", f"source {path}; complete -C '{line}'"])
        check(words, wanted, {each.split("\t")[0] for each in answer.splitlines() if each})


def test_zsh(place, needs):
    """In a pseudo-terminal, with the tab key pressed."""
    zsh = needs("zsh")
    script(place, "zsh", "_pharos")
    for words, wanted in CASES:
        answer = ask(place, [zsh, "-f", DRIVER, place, " ".join(["pharos", *words])])
        lines = answer.replace("\r", "").split("\n")
        check(words, wanted, {line.strip("\x01").rstrip() for line in lines if line.startswith("\x01")})
