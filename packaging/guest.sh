#!/bin/busybox sh
# The first process of the guest that boot.sh boots: loads the modules, mounts the cards, runs the program, and
# turns the machine off. Each step ends with a line '@@ NAME: STATUS'.
/bin/busybox --install -s /bin
export PATH=/bin TERM=dumb COLUMNS=100
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t debugfs debug /sys/kernel/debug
mount -t tmpfs tmp /tmp
while read -r module; do insmod "/modules/$module" 2>/dev/null; done </modules/order

# Should the end not come: what waits, and for what.
late=$(sed -n 's/.*assay\.late=\([0-9]*\).*/\1/p' /proc/cmdline)
(
	sleep "${late:-600}"
	echo "@@ late"
	for task in /proc/[0-9]*/task/[0-9]*; do
		[ -s "${task%/task/*}/cmdline" ] || continue
		echo "@@ task $task $(tr '\0' ' ' <"${task%/task/*}/cmdline"): $(cat "$task/comm" "$task/wchan" "$task/syscall" | tr '\n' ' ')"
		cat "$task/stack"
	done
	poweroff -f
) &

step() {
	name=$1
	shift
	echo "@@ begin $name: $*"
	"$@"
	echo "@@ $name: $?"
}

# What did it, by the record: the methods that phases were resolved to. The name of fio's option is there, too.
method() {
	echo "@@ method $1: $(tr -d ' \n' <"/tmp/$1.json" | grep -o '"method":[{]*"[a-z_]*"' | sort -u |
		grep -v '"ioengine"' |
		sed 's/.*"\([a-z_]*\)"/\1/' | tr '\n' ' ')"
}

# Which is which: the kernel numbers them as they answer.
for turn in $(seq 100); do
	[ -e /sys/block/mmcblk0 ] && [ -e /sys/block/mmcblk1 ] && break
	sleep 0.2
done
for disk in /sys/block/mmcblk[0-9]; do
	device=/dev/$(basename "$disk")
	case $(cat "$disk/device/type") in
	SD) SD=$device folder=/mnt/sd ;;
	MMC) EMMC=$device folder=/mnt/emmc ;;
	esac
	for register in type cid csd scr ssr name date life_time pre_eol_info; do
		[ -r "$disk/device/$register" ] && echo "@@ register $device $register $(cat "$disk/device/$register")"
	done
	mount -t ext4 "$device" "$folder" || echo "@@ no mount of $device"
done

step kernel uname -a
step version assay --version
step probe-sd assay probe /mnt/sd
step probe-emmc assay probe /mnt/emmc
step json-sd assay probe --json /mnt/sd
step json-emmc assay probe --json /mnt/emmc
for engine in io_uring libaio psync mmap; do
	ASSAY_RECORD=/tmp/$engine.json step "$engine" assay fio --name=job --filename=/mnt/sd/file --size=4m \
		--rw=randrw --bs=4k --iodepth=8 --direct=$([ "$engine" = mmap ] && echo 0 || echo 1) \
		--ioengine="$engine" --verify=crc32c
	method "$engine"
done
rm -f /mnt/sd/file
step quick assay quick --time 12 --size 16M --record /tmp/quick.json /mnt/emmc
method quick
step judge assay judge /tmp/quick.json
step card assay card --quick /mnt/sd
step dd assay dd if=/dev/zero of=/mnt/sd/x bs=1M count=8 conv=fsync
umount /mnt/sd /mnt/emmc
step raw assay io --rw read --bs 64k --time 2 "${SD:-/dev/mmcblk0}"
echo "@@ done"
poweroff -f
