#!/usr/bin/env bash
# boot.sh [aarch64] [armv7]: boots a real Debian kernel on an emulated board with an SD card and an eMMC behind an
# SDHCI controller, and runs the program of 'make dist' there: the cards' registers, their classes, io_uring and
# libaio are real, only the hardware is not.
#
# Everything that it fetches (a kernel, busybox, and QEMU where that of this machine has no eMMC) comes from
# Debian's archive, at the address that apt has here, into $DIST/boot; nothing is installed but what 'need' says.
set -euo pipefail
. "$(dirname "$0")/common.sh"

BOOT=$DIST/boot
# The first release of Debian whose QEMU lets one plug in an eMMC (10.2).
EMMC_RELEASE=trixie
# Seconds that a guest may take; an emulated one is slow, and the host may be busy. After two thirds of them it says itself
# what it waits for, and ends (guest.sh).
PATIENCE=${PATIENCE:-900}
# Seconds after which an emulator that used no CPU time at all stands still.
STILL=60

# apt_in FOLDER ARCH RELEASE... -- WORDS: apt-get or apt-cache with a state of its own, for another processor or
# release, from the same archive as here.
apt_in() {
	local folder=$1 arch=$2 releases=() archive release
	shift 2
	while [ "$1" != -- ]; do releases+=("$1"); shift; done
	shift
	if [ ! -e "$folder/sources.list" ]; then
		mkdir -p "$folder"/{lists,archives}/partial "$folder/state"
		archive=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' |
			grep -v security | head -1)
		[ -n "$archive" ] || die "apt has no archive of Debian here; 'apt-get update' first"
		for release in "${releases[@]}"; do
			echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive $release main"
		done >"$folder/sources.list"
	fi
	"$@" -o APT::Architecture="$arch" -o APT::Architectures="$arch" -o APT::Sandbox::User=root \
		-o Dir::Etc::sourcelist="$folder/sources.list" -o Dir::Etc::sourceparts=- \
		-o Dir::State="$folder/state" -o Dir::State::lists="$folder/lists" \
		-o Dir::State::status=/dev/null -o Dir::Cache::archives="$folder/archives" \
		-o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -qq
}

# A QEMU that has an eMMC: this machine's, or one in a folder of its own.
emulator() {
	local command=$1 root=$BOOT/qemu
	QEMU=("$command")
	if command -v "$command" >/dev/null && plugs_emmc; then return; fi
	[ "$(id -u)" = 0 ] || die "an eMMC needs QEMU 10.2, or root to run one from a folder"
	if [ ! -x "$root/usr/bin/$command" ]; then
		say "fetching a QEMU that has an eMMC into $root"
		local apt=$BOOT/apt-qemu
		apt_in "$apt" "$(dpkg --print-architecture)" "$EMMC_RELEASE" "$EMMC_RELEASE-backports" -- apt-get update
		apt_in "$apt" "$(dpkg --print-architecture)" -- apt-get install -y --download-only \
			--no-install-recommends -t "$EMMC_RELEASE-backports" qemu-system-arm </dev/null >/dev/null
		mkdir -p "$root/usr"
		local link package
		for link in bin sbin lib lib64; do ln -sfn "usr/$link" "$root/$link"; done
		for package in "$apt"/archives/*.deb; do
			dpkg-deb --fsys-tarfile "$package" | tar -C "$root" -xf - --keep-directory-symlink
		done
		mkdir -p "$root/run"
	fi
	QEMU=(chroot "$root" "$command")
	plugs_emmc || die "the QEMU in $root has no eMMC"
}

plugs_emmc() { "${QEMU[@]}" -M virt -device help 2>&1 | grep -q '^name "emmc"'; }

# A kernel of Debian with its modules, and busybox, for this processor.
kernel() {
	local arch=$1 package=$2 folder=$BOOT/$1 apt=$BOOT/apt-$1 release image
	if [ -e "$folder/done" ]; then return; fi
	release=$(. /etc/os-release && echo "${VERSION_CODENAME:?}")
	say "fetching $package and busybox for $arch into $folder"
	apt_in "$apt" "$arch" "$release" -- apt-get update
	image=$(apt_in "$apt" "$arch" -- apt-cache depends "$package" | awk '/Depends: linux-image/ { print $2; exit }')
	[ -n "$image" ] || die "no kernel behind $package"
	rm -rf "$folder"
	mkdir -p "$folder/root"
	(cd "$folder" && apt_in "$apt" "$arch" -- apt-get download "$image" busybox-static)
	for package in "$folder"/*.deb; do
		dpkg-deb --fsys-tarfile "$package" | tar -C "$folder/root" -xf -
		rm "$package"
	done
	if [ -d "$folder/root/lib/modules" ]; then mv "$folder/root/lib" "$folder/lib"; else mv "$folder/root/usr/lib" "$folder/lib"; fi
	touch "$folder/done"
}

# The file system that the guest starts from: busybox, the program, the modules in the order of their needs.
initramfs() {
	local arch=$1 name=$2 folder=$BOOT/$1 version root module line
	version=$(ls "$folder/lib/modules")
	depmod -b "$folder" "$version"
	root=$folder/initramfs
	rm -rf "$root"
	mkdir -p "$root"/{bin,dev,proc,sys,mnt/sd,mnt/emmc,tmp,modules}
	cp "$folder"/root/{usr/,}bin/busybox "$root/bin/" 2>/dev/null || true
	[ -x "$root/bin/busybox" ] || die "no busybox for $arch"
	cp "$DIST/assay-$name-linux" "$root/bin/assay"
	cp packaging/guest.sh "$root/init"
	chmod 755 "$root/init"
	: >"$root/modules/order"
	for module in sdhci_pci mmc_block ext4; do
		# What is built in needs no file.
		while read -r line; do
			line=$(awk '$1 == "insmod" { print $2 }' <<<"$line")
			[ -n "$line" ] || continue
			cp -n "$line" "$root/modules/"
			basename "$line" >>"$root/modules/order"
		done < <(modprobe -d "$folder" -S "$version" --show-depends "$module" 2>/dev/null)
	done
	(cd "$root" && find . | LC_ALL=C sort | cpio -o -H newc -R 0:0 --quiet | gzip -1) >"$folder/initrd.gz"
}

# Runs the guest to its end; its console is then in $LOG. One thread for all of its CPUs: with one for each, QEMU 11.1 lost
# timers now and then, and the guest slept for ever. By one thread ARMv7's second CPU never starts.
emulated() {
	local root= place=$run.guest
	# A QEMU from a folder sees no other files than those in it.
	if [ "${QEMU[0]}" = chroot ]; then root=$BOOT/qemu place=/run/$name; fi
	rm -rf "$root$place"
	cp -r --sparse=always "$run" "$root$place"
	# shellcheck disable=SC2086
	"${QEMU[@]}" -M $machine -m 512 -accel tcg,thread=single -nographic -no-reboot -net none \
		-kernel "$place/kernel" -initrd "$place/initrd" \
		-append "console=ttyAMA0 quiet panic=-1 rdinit=/init assay.late=$((PATIENCE * 2 / 3))" \
		-drive "if=none,id=sd,format=raw,file=$place/sd.img" \
		-drive "if=none,id=emmc,format=raw,file=$place/emmc.img" \
		-device sdhci-pci,id=one -device sd-card,drive=sd \
		-device sdhci-pci,id=two -device emmc,drive=emmc </dev/null >"$LOG" 2>&1 &
	until_it_ends $!
	tr -d '\r' <"$LOG" >"$LOG.text" && mv "$LOG.text" "$LOG"
	# What is longer than its 80 columns goes on below, indented.
	sed -E ':more;N;$!bmore;s/\n {11}([^ ])/ \1/g' "$LOG" >"$LOG.whole"
}

# until_it_ends PID: waits for an emulator, and ends it when it stands still or takes too long.
until_it_ends() {
	local pid=$1 began=$SECONDS moved=$SECONDS used=0 now
	while now=$(awk '{ print $14 + $15 }' "/proc/$pid/stat" 2>/dev/null); do
		[ "$now" = "$used" ] || used=$now moved=$SECONDS
		if [ $((SECONDS - moved)) -ge "$STILL" ] || [ $((SECONDS - began)) -ge "$PATIENCE" ]; then
			say "$name: QEMU is ended after $((SECONDS - began)) seconds; for $((SECONDS - moved)) of them it took no CPU time"
			kill -KILL "$pid"
			break
		fi
		sleep 1
	done
	wait "$pid" || true
}

# has TEXT: the guest said it, in one line or one that goes on.
has() { grep -qE -- "$1" "$LOG" "$LOG.whole" || { failed=1; say "$name: missing: $1"; }; }

# prepared NAME: what its board starts from is there; says so in $arch, $machine and $QEMU.
prepared() {
	local name=$1 package system
	case $name in
	aarch64) package=linux-image-arm64 system=qemu-system-aarch64 machine='virt -cpu cortex-a53 -smp 2' ;;
	armv7) package=linux-image-armmp system=qemu-system-arm machine='virt,highmem=off -cpu cortex-a15 -smp 1' ;;
	*) die "no board for '$name': aarch64 or armv7" ;;
	esac
	arch=$(field "$name" 2)
	[ -x "$DIST/assay-$name-linux" ] || die "no $DIST/assay-$name-linux: 'make dist' builds it"
	emulator "$system"
	kernel "$arch" "$package"
}

boot() {
	local name=$1 arch machine began failed=0
	prepared "$name"
	initramfs "$arch" "$name"
	local run=$BOOT/run-$name
	rm -rf "$run"
	mkdir -p "$run"
	for card in sd emmc; do
		truncate -s 256M "$run/$card.img"
		mke2fs -q -t ext4 -O '^metadata_csum,^64bit' -F "$run/$card.img"
	done
	cp "$BOOT/$arch/initrd.gz" "$run/initrd"
	cp "$BOOT/$arch/root/boot/"vmlinuz-* "$run/kernel"
	LOG=$BOOT/$name.log
	say "booting $(basename "$BOOT/$arch/root/boot/"vmlinuz-*) on $name; the console goes to $LOG"
	began=$SECONDS
	emulated
	# QEMU has stood still for ever, all its threads asleep. That is no word of the program: a guest that waits says so itself.
	if ! grep -qE '^@@ (done|late)' "$LOG"; then
		say "$name: the guest did not come to its end in $((SECONDS - began)) seconds; once more. It had said:"
		tail -5 "$LOG" >&2
		emulated
	fi
	has '^@@ done'
	expectations
	if [ "$failed" != 0 ]; then
		tail -60 "$LOG" >&2
		die "$name: see $LOG"
	fi
	say "$name: ok, in $((SECONDS - began)) seconds"
}

# What the guest's registers hold, QEMU's sources say: its cards have no classes in their status register.
expectations() {
	local engine step
	for step in version probe-sd probe-emmc json-sd json-emmc dd; do has "^@@ $step: 0$"; done
	has "^commit +[0-9a-f]{12}"
	# The registers, as the kernel shows them and as they are read here: SCR, CSD, CID; of an eMMC its EXT_CSD.
	has '^@@ register /dev/mmcblk[01] cid aa585951454d5521'
	has '^@@ register /dev/mmcblk[01] cid aa015851454d5521'
	has 'card +mmcblk[01]: SD, specification 3\.0, 256 MiB by its register, made 02/2006'
	has 'card +mmcblk[01]: MMC, made [0-9]+/[0-9]+, erases 1 MiB at a time'
	has 'link +mmcblk[01]: '
	has '"model": "QEMU!"'
	has '"made": "02/2006"'
	has '"kind": "MMC"'
	for engine in io_uring libaio psync mmap; do
		has "^@@ $engine: 0$"
		has "^@@ method $engine: $engine *$"
	done
	has '^ +issued rwts: total=1024,'
	# Figures differ from run to run; that there are some, and a verdict, does not.
	for step in quick judge card raw; do has "^@@ $step: [03]$"; done
	has '^@@ method quick: .*io_uring'
	has '^  rand-write-q32 +4 KiB q32 +[0-9.]+'
	has '^  card +SD, claimed class unknown, specification 3\.0, 256 MiB by its register'
	has '^  [CUVA] +(meets|below|borderline)'
	has '^  verdict +[a-z]+ - '
}

need cpio cpio
need mke2fs e2fsprogs
need depmod kmod
names=("$@")
[ $# -gt 0 ] || names=(aarch64 armv7)
# What is fetched for one may be the other's; then each takes one CPU, so that they run at once.
for name in "${names[@]}"; do prepared "$name"; done
at_once boot "${names[@]}"
