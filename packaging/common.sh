# What the scripts of this folder share: which targets there are, where things go, and how a missing package is
# had. Read by '.', after 'set -euo pipefail'; the working folder becomes the top of the sources.

cd "$(dirname "${BASH_SOURCE[0]}")/.."
SOURCES=$PWD
# All that is made: nothing outside of this folder is written but Debian packages and components of rustup.
DIST=${DIST:-$SOURCES/target/dist}
VERSION=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)

# Name here and in file names (what 'assay on' looks for), Debian's name, Rust's target, how it runs on this machine, an
# OCI image's name.
TARGETS='
x86_64   amd64    x86_64-unknown-linux-musl       qemu-x86_64   amd64
aarch64  arm64    aarch64-unknown-linux-musl      qemu-aarch64  arm64
armv7    armhf    armv7-unknown-linux-musleabihf  qemu-arm      armv7
riscv64  riscv64  riscv64gc-unknown-linux-musl    qemu-riscv64  riscv64
'

say() { printf 'dist: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# field NAME N: the Nth column of a target.
field() {
	awk -v name="$1" -v n="$2" '$1 == name { print $n; found = 1 } END { exit !found }' <<<"$TARGETS" ||
		die "no target '$1': $(awk 'NF { printf " %s", $1 }' <<<"$TARGETS")"
}

# runner NAME: what stands before the program to run it here: nothing, or an emulator of the processor.
runner() {
	case "$1/$(uname -m)" in
	x86_64/x86_64 | aarch64/aarch64 | armv7/armv7l | riscv64/riscv64) ;;
	*) field "$1" 4 ;;
	esac
}

# need COMMAND PACKAGE...: installs Debian packages when the command is missing.
need() {
	local command=$1
	shift
	if command -v "$command" >/dev/null; then return; fi
	command -v apt-get >/dev/null || die "'$command' is missing, and there is no apt-get here"
	[ "$(id -u)" = 0 ] || die "'$command' is missing; as root: apt-get install $*"
	say "installing $*"
	export DEBIAN_FRONTEND=noninteractive
	{ apt-get update -qq && apt-get install -qq -y --no-install-recommends "$@"; } </dev/null >/dev/null ||
		die "could not install $*"
}

# at_once COMMAND NAME...: runs the command for each name, all at the same time; fails when one does.
at_once() {
	local command=$1 one running=() status=0
	shift
	for one; do
		"$command" "$one" &
		running+=($!)
	done
	for one in "${running[@]}"; do wait "$one" || status=1; done
	return $status
}
