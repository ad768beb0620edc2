# The two commands of the README are `make run` and `make test`; the others are for every day's work.

FLAGS := --explicit-target-dependency-import-check error
PHAROS := .build/debug/pharos
# Package.swift then optimises what computes in debug builds too.
export PHAROS_FAST_DEBUG := true

PARTS := structure swift oracles lab package rollout endurance threads documentation fuzz

.PHONY: run test check unit setup build static deb $(PARTS:%=test-%) format lint benchmark clean

# A beacon on the air of the built-in virtual controller, heard by a second one, for ten seconds.
run: build
	@$(PHAROS) advertise profiles/lobby-ibeacon.json --adapter virtual --duration-s 10

# For every day: format and structure, unit tests, independent oracles.
check:
	@Tests/Support/test check

# Everything: the same, a year of faults, the lab with a real kernel, the package in a machine with systemd, a fleet
# rolled out to one, a short run of each fuzzer.
test:
	@Tests/Support/test

# One test or suite: make unit TEST=CollisionModelTests
unit: setup
	@swift test $(FLAGS) --filter '$(TEST)'

setup:
	@Tests/Support/setup build

build: setup
	@swift build $(FLAGS) --product pharos
	@swift build $(FLAGS) --product pharos-hub

# The binaries that are shipped, stripped: .build/pharos, which is static, and .build/pharos-hub beside it.
static: setup
	@Tests/Support/build-static
	@Tests/Support/build-static pharos-hub

# The Debian package of that binary, for this machine's architecture, in .build/deb.
deb: static
	@Tests/Support/setup deb
	@systemd/debian/build

$(PARTS:%=test-%):
	@Tests/Support/test $(@:test-%=%)

format:
	@swift format --in-place --recursive Package.swift Sources Tests

lint:
	@swift format lint --strict --recursive Package.swift Sources Tests

benchmark: static
	@Tests/Support/setup benchmark
	@Tests/Benchmarks/run

clean:
	@rm -rf .build .build-*
