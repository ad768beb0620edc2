"""The list of commands that `make test-arm64` compares on both architectures."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Arm64"))
import compare


def test_every_command_is_compared():
    """A new command needs a line in Tests/Arm64/commands.txt."""
    assert compare.untried() == []


def test_a_command_without_a_line_is_found(tmp_path, monkeypatch):
    shorter = tmp_path / "commands.txt"
    shorter.write_text(compare.LIST.read_text().replace("pharos plan interval ", "pharos plan nothing "))
    monkeypatch.setattr(compare, "LIST", shorter)
    assert compare.untried() == ["plan interval"]
