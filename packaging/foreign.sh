#!/usr/bin/env bash
# foreign.sh NAME...: builds the programs of the processors that this machine does not have, not optimised but otherwise
# as they are given away, and runs each by the emulator of its processor: what smoke.sh shows. Without names: of all.
set -euo pipefail
. "$(dirname "$0")/common.sh"

names=("$@")
if [ $# -eq 0 ]; then
	for name in $(awk 'NF { print $1 }' <<<"$TARGETS"); do
		[ -z "$(runner "$name")" ] || names+=("$name")
	done
fi

# Emulators come from Debian, and only root can install them.
missing=()
for name in "${names[@]}"; do
	emulator=$(runner "$name")
	[ -z "$emulator" ] || command -v "$emulator" >/dev/null || missing+=("$emulator")
done
if [ ${#missing[@]} != 0 ]; then
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		say "SKIP ${names[*]}: missing here: ${missing[*]}; as root: apt-get install qemu-user"
		[ "${CI:-}" != true ] || exit 1
		exit 0
	fi
	need "${missing[0]}" qemu-user
fi

DIST=$SOURCES/target/foreign
export DIST PROFILE=foreign
packaging/build.sh "${names[@]}"
# An emulator takes one CPU, so that they run at once.
running=()
for name in "${names[@]}"; do
	packaging/smoke.sh "$name" &
	running+=($!)
done
status=0
for one in "${running[@]}"; do wait "$one" || status=1; done
exit $status
