"""systemd/debian/arm64-sdk: what it downloads, keeps and refuses."""
import hashlib
import importlib.machinery
import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONTENT = b"a package"
CHECKSUM = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(scope="module")
def sdk():
    loader = importlib.machinery.SourceFileLoader("arm64_sdk", str(ROOT / "systemd/debian/arm64-sdk"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("arm64_sdk", loader))
    sys.modules["arm64_sdk"] = module
    loader.exec_module(module)
    return module


@pytest.fixture
def mirror(sdk, tmp_path, monkeypatch):
    """A mirror that has one package; it records what it was asked for."""
    asked = []

    class Apt:
        def update(self):
            pass

        def download(self, packages, folder):
            asked.extend(packages)
            if packages != ["there=1:2.0-1"]:
                raise sdk.PreparationError("apt-get failed")
            (folder / "there_1%3a2.0-1_amd64.deb").write_bytes(CONTENT)

    monkeypatch.setenv("PHAROS_ARM64_CACHE", str(tmp_path))
    monkeypatch.setattr(sdk, "apt", lambda source: Apt())
    return asked


def package(sdk, name="there", checksum=CHECKSUM):
    return sdk.Package(f"sid amd64 {name} 1:2.0-1 {checksum}")


def test_packages_are_downloaded_once(sdk, mirror):
    sdk.fetch([package(sdk)])
    sdk.fetch([package(sdk)])
    assert mirror == ["there=1:2.0-1"]
    assert package(sdk).path.read_bytes() == CONTENT


def test_a_damaged_file_of_the_cache_is_downloaded_again(sdk, mirror):
    sdk.fetch([package(sdk)])
    package(sdk).path.write_bytes(CONTENT[:4])
    sdk.fetch([package(sdk)])
    assert len(mirror) == 2 and package(sdk).path.read_bytes() == CONTENT


def test_another_checksum_is_refused(sdk, mirror):
    with pytest.raises(sdk.PreparationError, match="there 1:2.0-1 has another checksum"):
        sdk.fetch([package(sdk, checksum="0" * 64)])
    assert not package(sdk).path.exists()


def test_packages_that_debian_no_longer_has_are_named(sdk, mirror):
    with pytest.raises(sdk.PreparationError, match="any more: gone 1:2.0-1.*arm64-sdk renew"):
        sdk.fetch([package(sdk), package(sdk, "gone")])
    # The other one is kept.
    assert package(sdk).is_there()


def test_a_toolchain_without_static_libraries_is_refused(sdk, tmp_path, monkeypatch):
    monkeypatch.setenv("PHAROS_ARM64_SWIFT", str(tmp_path))
    with pytest.raises(sdk.PreparationError, match="has no folder usr/lib/swift_static"):
        sdk.own_toolchain()
    (tmp_path / "usr/lib/swift_static").mkdir(parents=True)
    assert sdk.own_toolchain() == tmp_path / "usr"


def test_the_list_names_each_package_once(sdk):
    packages = sdk.listed()
    assert {each.source for each in packages} == {sdk.COMPILER, sdk.LIBRARIES, sdk.SYSROOT}
    assert len({(each.source, each.name) for each in packages}) == len(packages)
    assert all(len(each.checksum) == 64 for each in packages)
