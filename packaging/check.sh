#!/usr/bin/env bash
# check.sh: builds all that is given away, runs each program (dist.sh), and boots the boards (boot.sh): the last part of
# 'make check'.
set -euo pipefail
. "$(dirname "$0")/common.sh"

# skip WHAT: said, and with CI=true a failure.
skip() {
	say "SKIP $*"
	[ "${CI:-}" != true ] || exit 1
}

# Emulators, packers and boards come from Debian, and only root can install them.
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
	missing=()
	for command in file git lintian $(awk 'NF { print $4 }' <<<"$TARGETS"); do
		[ "$command" = "qemu-$(uname -m)" ] || command -v "$command" >/dev/null || missing+=("$command")
	done
	if [ ${#missing[@]} != 0 ]; then
		skip "what is given away: missing here: ${missing[*]}; as root: apt-get install file git lintian qemu-user"
		exit 0
	fi
fi

# A clone that is thrown away leaves what it built of crates from the registry and of the standard library to the next one in
# the same place: cargo takes it where the compiler, the lock file and all flags are the same, and what is our own is newer
# in each clone.
if [ "${CI:-}" = true ]; then
	kept=${XDG_CACHE_HOME:-$HOME/.cache}/assay
	BUILD=$kept/build-$({ rustc -Vv && cat Cargo.lock && pwd; } | sha256sum | cut -c1-16)
	export BUILD
	for other in "$kept"/buil[dt]-*; do [ "$other" = "$BUILD" ] || rm -rf "$other"; done
	[ ! -d "$BUILD" ] || say "taking what an earlier check built of other crates: $BUILD"
fi

packaging/dist.sh
if [ "$(id -u)" = 0 ]; then
	packaging/boot.sh
else
	skip "the boards: not root: QEMU and kernels come from Debian"
fi
