#!/usr/bin/env bash
# build.sh NAME...: the static program of each target, as $DIST/assay-NAME-linux. Without names: of all.
#
# One recipe for all processors: the standard library is built from its source in the same way as the crate (so
# no ready one is needed, and it is optimised as a part of the program), and zig is the linker, with musl in it.
set -euo pipefail
. "$(dirname "$0")/common.sh"

# Both are packages of PyPI; their versions decide over the bytes that come out.
ZIG=ziglang==0.17.0
ZIGBUILD=cargo-zigbuild==0.24.0

# More than that is not given away: what has to be copied to a board through a serial line should be small.
MOST=$((9 << 20))

tools() {
	need python3 python3 python3-venv
	local have
	have=$("$DIST/tools/bin/python3" -m pip freeze --disable-pip-version-check 2>/dev/null || true)
	if ! grep -qx "$ZIG" <<<"$have" || ! grep -qx "$ZIGBUILD" <<<"$have"; then
		say "installing $ZIG and $ZIGBUILD from PyPI into $DIST/tools"
		python3 -m venv "$DIST/tools" || { need ensurepip python3-venv; python3 -m venv "$DIST/tools"; }
		"$DIST/tools/bin/pip" install -q --disable-pip-version-check "$ZIG" "$ZIGBUILD"
	fi
	export PATH=$DIST/tools/bin:$PATH
	export CARGO_ZIGBUILD_CACHE_DIR=$DIST/zig ZIG_GLOBAL_CACHE_DIR=$DIST/zig ZIG_LOCAL_CACHE_DIR=$DIST/zig
}

# A compiler with the source of its standard library: rustup's, else Debian's.
toolchain() {
	RUSTC=${RUSTC:-rustc} CARGO=${CARGO:-cargo}
	if ! has_source && command -v rustup >/dev/null; then
		say "adding rust-src by rustup"
		rustup component add rust-src >&2 || say "rustup has no rust-src for this toolchain"
	fi
	if ! has_source; then
		need /usr/bin/rustc rustc-web
		need /usr/bin/cargo cargo-web
		[ -d /usr/share/doc/rust-web-src ] || need rust-web-src rust-web-src
		RUSTC=/usr/bin/rustc CARGO=/usr/bin/cargo
	fi
	has_source || die "$RUSTC has no source of its standard library: rustup component add rust-src"
	export RUSTC CARGO
	# Building the standard library is an unstable option of a stable cargo.
	export RUSTC_BOOTSTRAP=1
	SYSROOT=$("$RUSTC" --print sysroot)
	say "$("$RUSTC" -V), $("$DIST/tools/bin/python-zig" version | sed 's/^/zig /')"
}

has_source() { [ -e "$("$RUSTC" --print sysroot 2>/dev/null)/lib/rustlib/src/rust/library/Cargo.lock" ]; }

# Flags of a target, as an array of TOML. Where the sources lie, here or on another machine, is not to be in the program.
# What is marked '#[inline]' (most of the standard library) is put in place where that is short: 5 % of the program less,
# some 2 ns of a loop without I/O more, and what psync, libaio and io_uring take of memory is within noise. What must be
# part of a loop says 'inline(always)'.
flags() {
	local cargo_home=${CARGO_HOME:-$HOME/.cargo} flag all=
	local flags=(-Cllvm-args=-inlinehint-threshold=50 -Ctarget-feature=+crt-static -Clink-self-contained=no -Cforce-unwind-tables=no
		"--remap-path-prefix=$SOURCES=assay" "--remap-path-prefix=$cargo_home=cargo"
		"--remap-path-prefix=$SYSROOT/lib/rustlib/src=rust")
	# The crate of io_uring knows the layouts of 64-bit machines; they are those of 32-bit ARM, too, as
	# 'make dist-boot' shows on a real kernel.
	# Each ARMv7 knows Thumb's instructions, which are shorter.
	if [ "$1" = armv7 ]; then flags+=(--cfg=io_uring_skip_arch_check -Ctarget-feature=+thumb-mode); fi
	for flag in "${flags[@]}"; do all+="${all:+,}'$flag'"; done
	printf '%s' "[$all]"
}

names=("$@")
[ $# -gt 0 ] || mapfile -t names < <(awk 'NF { print $1 }' <<<"$TARGETS")
for name in "${names[@]}"; do field "$name" 3 >/dev/null; done

mkdir -p "$DIST"
# Where cargo works.
BUILD=${BUILD:-$DIST/build}
tools
toolchain
# One commit, one program: also where the sources are no checkout.
if [ -z "${ASSAY_COMMIT:-}" ] && top=$(git rev-parse --show-toplevel 2>/dev/null) && [ "$top" = "$SOURCES" ]; then
	ASSAY_COMMIT=$(git rev-parse HEAD | cut -c1-12)
	[ -z "$(git status --porcelain -- src crates docs/schema.txt build.rs Cargo.toml Cargo.lock)" ] || ASSAY_COMMIT+=", changed since"
fi
export ASSAY_COMMIT=${ASSAY_COMMIT:-unknown}

targets=()
for name in "${names[@]}"; do
	target=$(field "$name" 3)
	targets+=(--target="$target" --config "target.$target.rustflags=$(flags "$name")")
done
say "building ${names[*]}, commit $ASSAY_COMMIT"
# All at once: the last step of each takes one CPU only. Without 'backtrace': a program without symbols has no names to
# print.
env -u RUSTFLAGS -u CARGO_ENCODED_RUSTFLAGS CARGO_INCREMENTAL=0 "$CARGO" zigbuild --profile dist --locked -Zbuild-std=std,panic_abort \
	-Zbuild-std-features=optimize_for_size --bin assay "${targets[@]}" --target-dir "$BUILD" >&2 ||
	die "${names[*]}: they do not build"
for name in "${names[@]}"; do
	cp "$BUILD/$(field "$name" 3)/dist/assay" "$DIST/assay-$name-linux"
	size=$(stat -c %s "$DIST/assay-$name-linux")
	say "assay-$name-linux: $size bytes"
	[ "$size" -le "$MOST" ] || die "assay-$name-linux has more than $MOST bytes"
	if file "$DIST/assay-$name-linux" 2>/dev/null | grep -q 'dynamically linked'; then
		die "assay-$name-linux is not static"
	fi
done
