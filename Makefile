# make            the program, optimised: target/release/assay
# make test       form, lints and the tests of words, records, verdicts and the engine (a quarter of an hour, most of it building)
# make check      what takes longer: devices, faults, the catalogue of traps, and all that is given away (an hour with 'make test')
# make lint       form and lints only
# make rule RULE=burst  the tests of one rule, within 15 s of an edit (two minutes the first time)
# make bench      ratios against the tools of others, in one run (takes minutes);
#                 ROWS=disk FOLDER=/mnt/x for some of its rows, and the disk of another folder;
#                 ROWS=fio for 'assay fio' beside fio, or beside the one that FIO=/path names; ROWS=iozone likewise
# make causes     causes of misleading numbers on real devices, with the truth beside what assay says (takes
#                 half an hour, as root); CAUSES=stopped for the rows of that name
# make man        assay.1 and completions, into target/man
# make install    into $(DESTDIR)$(PREFIX)
# make dist       static programs for other machines, packages, licences, sums, into target/dist: docs/INSTALL.md
#                 (takes 20 minutes); NAMES='aarch64 armv7' for some of them
# make static     that of this machine's processor alone, run and packed (some minutes)
# make smoke      runs those programs here, by emulators of their processors
# make dist-boot  runs them on emulated boards with an SD card and an eMMC, below a real kernel
# make dist-twice builds one again elsewhere, and compares the bytes
# make given-away dist and dist-boot: a part of 'make check'
# make release-check  what a version has to pass beside 'make test' and 'make check': given-away with nothing skipped, its
#                 place in CHANGELOG.md, and the crates as a registry would get them, each built (half an hour, as root)

CARGO  ?= cargo
PREFIX ?= /usr/local
TARGET := $(or $(CARGO_TARGET_DIR),target)
BINARY := $(TARGET)/release/assay
# Tests interrupt programs, which inherit it when Ctrl-C is ignored: so it is behind 'nohup make test &'.
HEARING := $(shell env --default-signal=INT true 2>/dev/null && echo env --default-signal=INT,QUIT)
VERSION := $(shell sed -n 's/^version = "\(.*\)"$$/\1/p' Cargo.toml | head -1)
# This machine's processor, as the scripts of packaging/ call it.
STATIC := $(patsubst armv7l,armv7,$(shell uname -m))

# What tests make devices and file systems with, the tools they compare with, and an sshd that makes a board of
# this machine.
TEST_PACKAGES  := mount util-linux kmod e2fsprogs xfsprogs btrfs-progs dosfstools busybox strace fio bonnie++ jq python3-xlrd python3-six python3-venv openssh-server
# What only 'make check' needs: another program that opens our workbooks.
CHECK_PACKAGES := $(TEST_PACKAGES) libreoffice-calc-nogui
# The peers of the benchmark.
BENCH_PACKAGES := mount util-linux kmod coreutils fio bonnie++ gcc libc6-dev

.PHONY: all build test check built lint rule bench causes suites man install dist static smoke given-away release-check dist-boot dist-twice packages toolchain clean

all: build

build:
	$(CARGO) build --release --locked

# Stops at the first thing that fails. Packages are fetched while lints compile; everything else is alone: most tests time
# what the program itself does, or the disk.
test:
	$(MAKE) --no-print-directory -j 2 packages built
	$(HEARING) $(CARGO) test --locked --lib --test pages --test processes --test steady --test strangers --test tidy --test verdict
	$(HEARING) $(CARGO) test --locked --test engine -- --test-threads 5
	$(HEARING) $(CARGO) test --locked --doc

check: PACKAGES := $(CHECK_PACKAGES)
check: packages
	$(HEARING) $(CARGO) test --locked --test catalogue --test faults
	$(HEARING) $(CARGO) test --locked --test devices -- --test-threads 5
	$(MAKE) --no-print-directory given-away

# The programs of all tests.
built: lint
	$(CARGO) test --locked --no-run

lint: toolchain
	$(CARGO) fmt --check
	$(CARGO) clippy --locked --all-targets -- -D warnings

rule:
	$(CARGO) test --locked --profile edit -p assay-judge --lib -- $(RULE)

bench: PACKAGES := $(BENCH_PACKAGES)
bench: packages
	$(CARGO) bench --locked --bench peers -- $(or $(ROWS),all) $(FOLDER)

# By the same build as the tests.
causes: packages
	$(CARGO) test --locked --bench causes -- $(CAUSES)

# Other programs' own tests, from checkouts of their sources: suites/README.md.
suites: $(if $(filter command,$(origin BINARY)),,build)
	suites/run.sh $(BINARY) $(TARGET)/suites

man: build
	mkdir -p $(TARGET)/man
	$(BINARY) man > $(TARGET)/man/assay.1
	$(BINARY) completions bash > $(TARGET)/man/assay.bash
	$(BINARY) completions zsh > $(TARGET)/man/_assay
	$(BINARY) completions fish > $(TARGET)/man/assay.fish

install: man
	install -D -m 755 $(BINARY) $(DESTDIR)$(PREFIX)/bin/assay
	install -D -m 644 $(TARGET)/man/assay.1 $(DESTDIR)$(PREFIX)/share/man/man1/assay.1
	install -D -m 644 $(TARGET)/man/assay.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/assay
	install -D -m 644 $(TARGET)/man/_assay $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_assay
	install -D -m 644 $(TARGET)/man/assay.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/assay.fish

dist:
	packaging/dist.sh $(NAMES)

static:
	packaging/dist.sh $(STATIC)

smoke:
	packaging/smoke.sh $(NAMES)

dist-boot:
	packaging/boot.sh $(NAMES)

dist-twice:
	packaging/twice.sh $(NAMES)

given-away:
	packaging/check.sh

# First what takes seconds. CI=true: what is skipped fails.
release-check:
	grep -q '^## \[$(VERSION)\]' CHANGELOG.md
	$(CARGO) package --locked --workspace --exclude assay-testing --no-verify
	CI=true $(MAKE) --no-print-directory given-away
	$(CARGO) package --locked --workspace --exclude assay-testing

# Debian packages that are missing, when that can be mended here; otherwise the tests that need
# them say so themselves.
PACKAGES := $(TEST_PACKAGES)
packages:
	@missing=; \
	if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then \
		echo "packages: no apt-get here; tests that need a tool which is missing will say so"; \
		exit 0; \
	fi; \
	for package in $(PACKAGES); do \
		dpkg-query -W -f '$${Status}' $$package 2>/dev/null | grep -q 'ok installed' \
			|| missing="$$missing $$package"; \
	done; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if [ "$$(id -u)" != 0 ]; then \
		echo "packages: not root, so these stay missing:$$missing"; \
		exit 0; \
	fi; \
	echo "packages: installing$$missing"; \
	export DEBIAN_FRONTEND=noninteractive; \
	{ apt-get update -qq </dev/null && \
	  apt-get install -qq -y --no-install-recommends $$missing </dev/null >/dev/null; } \
		|| echo "packages: not installed:$$missing; tests that need them will say so"

# rustfmt and clippy come with rustup, but not in its smallest profile.
toolchain:
	@$(CARGO) fmt --version >/dev/null 2>&1 || rustup component add rustfmt
	@$(CARGO) clippy --version >/dev/null 2>&1 || rustup component add clippy

clean:
	$(CARGO) clean
