#!/usr/bin/env bash
# check.sh: builds all that is given away, runs each program (dist.sh), and boots the boards (boot.sh). 'make test' has it
# beside its tests of devices, most of which wait for slow cards: it takes CPU time that nobody else wants.
set -euo pipefail
. "$(dirname "$0")/common.sh"
# What make tells of its jobs is not for cargo here.
unset MAKEFLAGS MFLAGS

# Emulators, packers and boards come from Debian, and only root can install them.
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
	missing=()
	for command in file git lintian $(awk 'NF { print $4 }' <<<"$TARGETS"); do
		[ "$command" = "qemu-$(uname -m)" ] || command -v "$command" >/dev/null || missing+=("$command")
	done
	if [ ${#missing[@]} != 0 ]; then
		say "SKIP what is given away: missing here: ${missing[*]}; as root: apt-get install file git lintian qemu-user"
		[ "${CI:-}" != true ] || exit 1
		exit 0
	fi
fi

# A group of processes that runs where no other wants to. Priorities alone do not make one: they are among the processes
# of a session or a group, and these as a whole count like the kernel's own threads, which wait for seconds then.
GROUP=
idle() {
	local top
	for top in /sys/fs/cgroup/cpu /sys/fs/cgroup/cpu,cpuacct /sys/fs/cgroup; do
		GROUP=$top/assay-given-away
		if mkdir -p "$GROUP" 2>/dev/null && [ -w "$GROUP/cpu.idle" ] && echo 1 >"$GROUP/cpu.idle" &&
			echo $$ >"$GROUP/cgroup.procs"; then return; fi
		rmdir "$GROUP" 2>/dev/null || true
	done
	GROUP=
	say "no group of processes is idle here: tests beside this may wait for it"
	renice -n 19 $$ >/dev/null
}

undo() {
	[ -z "${BUILD:-}" ] || rm -rf "$BUILD"
	[ -z "$GROUP" ] || { echo $$ >"${GROUP%/*}/cgroup.procs" && rmdir "$GROUP"; } || true
}
trap undo EXIT
idle
# Tests measure disks: a check of a clone that is thrown away builds in memory, where there is enough. What it built of
# crates from the registry and of the standard library is kept for the next one: cargo takes it where the lock file, the
# compiler and all flags are the same.
KEPT=
if [ "${CI:-}" = true ] && [ "$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)" -gt $((12 << 20)) ]; then
	BUILD=$(mktemp -d /dev/shm/assay-build.XXXXXX)
	export BUILD
	KEPT=${XDG_CACHE_HOME:-$HOME/.cache}/assay/built-$({ rustc -Vv && cat Cargo.lock && pwd; } | sha256sum | cut -c1-16).tar
	if [ -e "$KEPT" ]; then
		say "taking what an earlier check built of other crates: $KEPT"
		tar -C "$BUILD" -xf "$KEPT" || find "$BUILD" -mindepth 1 -delete
	fi
fi

packaging/dist.sh
if [ "$(id -u)" = 0 ]; then
	packaging/boot.sh
else
	say "SKIP the boards: not root: QEMU and kernels come from Debian"
fi
# At last, when no test measures a disk any more.
if [ -n "$KEPT" ] && [ ! -e "$KEPT" ]; then
	mkdir -p "${KEPT%/*}"
	rm -f "${KEPT%/*}"/built-*
	# Not our own: their sources are newer in each clone.
	tar -C "$BUILD" --exclude='*assay*' -cf "$KEPT.part" . && mv "$KEPT.part" "$KEPT" || rm -f "$KEPT.part"
fi
