# For users: `make run` and `make static`. For contributors: `make test`; `make unit` and `make format` while working.

PREFIX ?= /usr/local
# The options of Tests/Support/test, which explains them: other options would build everything again. While working on
# one module and for a debugger: swift build, swift test.
FLAGS := -c release -Xswiftc -Onone -Xswiftc -enable-testing -Xcc -O0 -Xcxx -O0 \
    --explicit-target-dependency-import-check error -debug-info-format none

PARTS := structure swift oracles long-oracles homeassistant release lab package releases rollout endurance threads long-units documentation fuzz

.PHONY: run test test-all unit setup static install uninstall deb deb-arm64 image test-kernels test-sequences test-arm64 pictures $(PARTS:%=test-%) format lint benchmark clean

# Builds pharos, and shows a beacon on the built-in virtual controller for ten seconds.
run: setup
	@swift build $(FLAGS) --product pharos
	@.build/release/pharos advertise profiles/lobby-ibeacon.json --adapter virtual --duration-s 10

# What a contributor runs: format, unit tests, independent encoders and decoders, web pages.
test:
	@Tests/Support/test quick

# Everything else: real kernels in emulated machines, the package under systemd, a roll-out, Home Assistant, a simulated
# year of faults, sanitizers, documentation, fuzzing.
test-all:
	@Tests/Support/test rest

# One test or suite: make unit TEST=CollisionModelTests
unit: setup
	@swift test $(FLAGS) --filter '$(TEST)'

# Installs what a build needs.
setup:
	@Tests/Support/setup build

# The release programs, stripped: .build/pharos, which is static, and .build/pharos-hub.
static: setup
	@Tests/Support/build-static

# Installs what `make static` has built, with units, completions and manual pages:
# sudo make install PREFIX=/usr/local
install:
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' systemd/install

uninstall:
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' systemd/install --remove

# The Debian packages of these programs, for this machine's architecture, in .build/deb.
deb: static
	@Tests/Support/setup deb
	@systemd/debian/build

# The packages for arm64, made on an amd64 machine with packages of Debian: in .build/arm64/deb.
deb-arm64: static
	@Tests/Support/setup arm64
	@Tests/Support/build-static --arm64
	@systemd/debian/build --arm64

# An OCI image of the static program, in .build.
image: static
	@systemd/oci-image

# The lab on the kernels of Debian 12, Debian 13, its backports and the next release; prints a table.
test-kernels: static
	@Tests/Support/setup test-all
	@Tests/Lab/kernels .build/pharos

# The programs and packages for arm64, in emulation: every command, the lab on arm64 kernels, installation; prints a table.
test-arm64: deb-arm64
	@Tests/Support/setup test-arm64
	@Tests/Arm64/run

# Two hundred seeded sequences of faults on the kernel of Debian 13; prints a table.
test-sequences: static
	@Tests/Support/setup test-all
	@Tests/Lab/sequences .build/pharos

# One part of the tests: make test-oracles
$(PARTS:%=test-%):
	@Tests/Support/test $(@:test-%=%)

format:
	@swift format --in-place --recursive Package.swift Sources Tests

lint:
	@swift format lint --strict --recursive Package.swift Sources Tests

# Makes the pictures of the README from the program, with Chromium.
pictures:
	@Tests/Support/setup test
	@swift build $(FLAGS) --product pharos
	@.build/oracles/bin/python Tests/Support/pictures

# Measures the goals of Tests/Benchmarks/README.md.
benchmark: static
	@Tests/Support/setup benchmark
	@Tests/Benchmarks/run

clean:
	@rm -rf .build .build-*
