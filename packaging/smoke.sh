#!/usr/bin/env bash
# smoke.sh NAME...: runs the program of each target here, by the emulator of its processor (qemu-user) where it is
# another, in a new folder that goes away. Emulated there are neither io_uring nor libaio nor cachestat: what is
# shown is that all else works, and what stands in for them. About half a minute each; on a machine that is busy more.
set -euo pipefail
. "$(dirname "$0")/common.sh"

# Where test files may be: a file system on which a sparse file may have 4 TiB.
SPACE=${SPACE:-$DIST}

# What each step printed, for when it fails.
run() {
	local expected=$1
	shift
	"${RUN[@]}" "$@" >out 2>err </dev/null && status=0 || status=$?
	case ",$expected," in
	*",$status,"*) ;;
	*)
		cat out err >&2
		die "$name: assay $*: status $status, not $expected"
		;;
	esac
}

# has TEXT FILE: the last step printed it.
has() {
	grep -qF -- "$1" "$2" && return
	cat "$2" >&2
	die "$name: '$1' is not in what it printed"
}

words() {
	run 0 --version
	has "assay $VERSION" out
	has "target    $(field "$name" 3), static" out
	has 'io_uring' out
	run 0 man
	has '.TH assay 1' out
	for shell in bash zsh fish; do
		run 0 completions "$shell"
		has assay out
	done
	run 0 schema
	has '"$schema"' out
	run 2 quick --such-an-option .
	run 0 traps T02
}

# fio's jobs are threads: an emulator has threads of its own, beside which a program cannot fork jobs.
# Figures: any verdict is one, and the record tells which method did it.
measured() {
	run 0,3 quick --time 6 --size 16M --record quick.json .
	has verdict out
	has rand-write-q32 out
	run 0,3 judge quick.json
	has verdict out
	run 0,3 io --rw randrw --buffered --time 2 --size 8M --verify --record io.json .
	has 'verdict' out
	run 0 probe --json .
	has '"schema"' out
	run 0 dd if=/dev/urandom of=one bs=1M count=8 conv=fsync
	has '8388608 bytes' err
	run 0 dd if=one of=two bs=64k iflag=fullblock
	cmp one two || die "$name: the copy differs"
	run 0 fio --thread --name=job --filename=fio --size=8m --rw=randwrite --bs=4k --ioengine=posixaio --iodepth=8 \
		--verify=crc32c --output-format=json
	has '"error" : 0' out
	run 0 bonnie -d . -s 8 -r 4 -n 0 -u root
	run 0 iozone -s 1m -r 64k -i 0 -i 1 -f iozone
}

# Beyond 2 GiB, 4 GiB and 2^32 sectors: what a register of 32 bits cannot count.
large() {
	truncate -s 4T big 2>/dev/null || { say "$name: no file of 4 TiB in $SPACE: not tried"; return; }
	local place
	for place in 2049 4097 2097153 4194303; do
		run 0 dd if=one of=big bs=1M count=1 seek="$place" conv=notrunc,fsync
		run 0 dd if=big of=back bs=1M count=1 skip="$place"
		cmp -n 1048576 one back || die "$name: what was written at $place MiB is not read there"
		# The same by a tool that is not ours.
		dd if=big bs=1M count=1 skip="$place" status=none | cmp -n 1048576 one - ||
			die "$name: $place MiB holds something else"
	done
	[ "$(stat -c %s big)" = $((4 << 40)) ] || die "$name: the file of 4 TiB has $(stat -c %s big) bytes"
	local engine engines=(psync sync mmap vsync posixaio)
	[ -n "$emulator" ] || engines+=(libaio io_uring)
	for engine in "${engines[@]}"; do
		run 0 fio --thread --name=job --filename=big --offset=4398040000000 --size=4m --rw=randwrite --bs=4k \
			--ioengine="$engine" --verify=crc32c --norandommap=0 --output-format=json
		has '"error" : 0' out
		has '"total_ios" : 1024' out
	done
	# Random places of all of it, and not of its beginning only.
	run 0,3 io --rw randread --buffered --time 1 --size 4T --record random.json big
	has 'verdict' out
	rm big
}

names=("$@")
[ $# -gt 0 ] || mapfile -t names < <(awk 'NF { print $1 }' <<<"$TARGETS")
for name in "${names[@]}"; do
	emulator=$(runner "$name")
	if [ -n "$emulator" ]; then need "$emulator" qemu-user; fi
done
# An emulator takes one CPU, so that they run at once.
if [ ${#names[@]} != 1 ]; then
	at_once packaging/smoke.sh "${names[@]}"
	exit
fi
name=${names[0]}
program=$DIST/assay-$name-linux
[ -x "$program" ] || die "no $program: 'make dist' builds it"
emulator=$(runner "$name")
RUN=(${emulator:+"$emulator"} "$program")
folder=$(mktemp -d "$SPACE/smoke.XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"
say "$name: running it ${emulator:+by $emulator }in $folder"
words
measured
large
say "$name: ok"
