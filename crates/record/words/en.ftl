# English. One message for each claim: its name is that of the enum and of the variant, its arguments are the variant's fields.
# Sentences are short and active; a quantity has its unit already. Where a line breaks is of no meaning.

list-next = { $before }, { $item }
list-last = { $before } and { $item }
series-next = { $before }; { $item }
series-last = { $before }; { $item }
values-next = { $before }, { $item }
values-last = { $before }, { $item }
sentences-next = { $before } { $item }
sentences-last = { $before } { $item }

## Comparisons

compare-differ = { $what }: { $differences }{ $more ->
    [0] .
   *[other] , and { $more } more.
 }
compare-within-side = Runs 1 and { $run } of the { $side }: { $claim }
compare-cut = The run did not finish in { $runs ->
    [none] the { $side } run.
   *[other] { $runs } { $side } runs.
 }
compare-suspect = { $others ->
    [none] '{ $phase }' in { $runs ->
        [none] the { $side } run
       *[other] { $runs } { $side } runs
     } is { $trust }:
   *[other] '{ $phase }' and { $others } in { $runs ->
        [none] the { $side } run
       *[other] { $runs } { $side } runs
     } are { $trust }. '{ $phase }':
 } { $claims }
compare-cut-left-out = Run { $runs } of the { $side } did not finish and is left out.
compare-left-out = Run { $runs } of the { $side } is left out of { $phases }, { $trust } there: { $claims }
compared-runs-all = all { $all }
compared-runs-some = { $of } of the { $all }
compared-thing-plans = The plans differ
compared-thing-jobs = The jobs were run differently
compared-thing-limits = The cgroup limits differ
compared-thing-machines = The machines differ
compared-thing-file-systems = The file systems differ
compared-thing-nodes = The workers ran on different NUMA nodes
compared-thing-devices = The devices differ
compared-thing-versions = The versions of assay differ
compared-thing-queues = The queue settings differ
quoted-phase = '{ $phase }'
differing-value = { $at } { $first } and { $second }
changed-value = { $at }: { $first } -> { $second }
differing-at-field = { $value }
differing-at-phase = phase '{ $value }'
differing-at-io-limits = I/O limits
differing-at-memory-limit = memory limit
differing-at-cpu-limit = CPU limit
differing-at-kernel = kernel
differing-at-processor = processor
differing-at-cpus = CPUs
differing-at-memory = memory
differing-at-page = page
differing-at-product = product
differing-at-clock = clock
differing-at-file-system = file system
differing-at-mount-options = mount options
differing-at-nodes = nodes
differing-at-devices = devices
differing-at-version = version
differing-state-said = { $value }
differing-state-names = { $value }
differing-state-there = there
differing-state-missing = -
differing-state-unlimited = none
differing-state-bytes = { $value }
differing-state-cpus = { DIGITS($value, 2) }
differing-state-io-limits = { $value }
io-limit = { $reads ->
    [yes] reads
   *[no] writes
 } { $limit }

## Before a run

flush-changes-left = No flush: changes may still be in memory, not on { $device }, when the clock stops.
flush-writes-left = No flush: { $limit ->
    [none] some of the data
   *[other] up to { $limit }
 } may still be dirty pages, not on { $device }, when the clock stops.
flush-each-write-waits = Flush-bound: each write waits for { $device }; this is the latency of a durable write, not throughput.
layer-data-shrink = { $kind } at { $point } compresses ({ $option }), and this data ({ $fill }) shrinks: { $device } writes fewer bytes.
memory-rounds-in-memory = It runs for { $time } over { $size }, for which memory has room: from the second round on, its I/Os { $reads ->
    [yes] are read from memory
   *[no] overwrite in memory what is not flushed yet
 }.
memory-part-cached = { $part } of { $path } is in the page cache: that part is not read from { $device }.
memory-reads-through-cache = Reads go through the page cache: what an earlier phase or run left there is not read from { $device }.
limit-extend-one-file = { $depth } writes in flight extend one file: they serialize on its lock, and { $device } gets one at a time.
place-will-allocate = First writes allocate blocks: overwriting an existing file may be several times as fast.
place-direct-misfits = Direct I/O { $offset ->
    [yes] from an offset
   *[no] in blocks
 } of { $bytes } bytes is not by multiples of { $sector }: it fails with 'Invalid argument' on most file systems.
limit-byte-by-byte = Each byte is a separate call ({ $method }): this is CPU-bound, unless { $device } is slower than a few MB/s.
limit-one-in-flight = Latency-bound at queue depth 1: one I/O of { $block } in flight, so this is not the disk's peak.
place-large-sectors = { $device } has { $sector } sectors: direct I/O in smaller blocks is refused.
place-emulated-sectors = { $device } accepts { $logical } sectors but writes { $physical }: for a smaller write it reads first (read-modify-write), which cannot be seen from here.
limit-one-command = { $device } uses the { $driver } driver, one command at a time: queue depth 32 is queue depth 1.
place-large-erase = { $device } has { $erase } erase blocks: small random writes cost many times their size (write amplification).
limit-no-queue = { $device } claims { $class }, which requires a command queue; this host shows none.
flush-write-cache = Direct writes end in the write cache of { $device }: only a flush, or O_DSYNC, makes them durable.
layer-holes = { $part } of the file was never written (holes): reads there return zeros without disk I/O.
layer-encoded = { $part } of the file is compressed or encoded: the disk reads fewer bytes than the program gets.
place-crumbled = The file is fragmented ({ $extents } extents): large reads reach the disk as small ones.
memory-file-cached = { $part } of the file is in the page cache: that part is not read from the disk.
flush-left-unknown = No flush: how much is not yet on { $device } when the clock stops is unknown.
flush-all-left = No flush, and all { $bytes } fit in dirty pages: the clock stops before { $device } has them.
memory-part-left = No flush: of { $bytes } up to { $left } ({ $part }) may still be dirty pages when the clock stops.
memory-up-to-left = No flush: up to { $limit } may still be dirty pages when the clock stops.
flush-left-to-close = No flush: the close writes out dirty pages, unless another program has { $device } open, and the drive's write cache is not flushed.
flush-other-meaning = { $words }
outcome-nothing-to-copy = { $path } cannot be opened, so nothing is copied.
flush-conv-sync = conv=sync pads short blocks with zeros and flushes nothing; conv=fsync flushes.
flush-each-of-waits = Flush-bound: each of { $writes } writes of { $block } waits for { $device }; this is the latency of a durable write, not throughput.
limit-limited = A cgroup limits { $reads ->
    [yes] reads from
   *[no] writes to
 } { $device } to { $limit }: results will show that limit.
limit-few-cpus = A cgroup limits this process to { DIGITS($cpus, 2) } CPUs: when throttled, it submits no I/O.
limit-hidden-limits = Cgroups above the visible root may have limits that cannot be read from here.
flush-stays-dirty = Without a flush, up to { $limit } of a write stays in dirty pages: smaller writes measure only memory.
memory-read-back = Data just written or read is read back from the page cache, up to the { $memory } of { $group ->
    [yes] its cgroup
   *[no] the machine
 }.
others-swap-there = Swap ({ $area }) is on { $devices } too: swapping counts as foreign I/O.
place-far-from-cpus = { $device } is local to CPUs { $near }, none of which this process may use: each I/O crosses NUMA nodes.
limit-slow-governor = The CPU governor is { $governor }: at queue depth 1 the CPUs may clock down between two I/Os.
limit-drive-hot = { $device } is at or near its temperature limit: it will throttle.
limit-cpus-throttled = The CPUs are already throttled by heat or power supply.
steady-slow-clock = The clock source is { $source }, and reading it takes { $cost }: short I/Os look longer.
layer-compresses = { $kind } at { $point } compresses ({ $option }): for zeros and repeated data the disk writes fewer bytes.
flush-no-barrier = { $kind } at { $point } sends no flush to the drive ({ $option }): fsync does not flush the drive's cache here.
flush-mounted-sync = { $kind } at { $point } is mounted { $option }: every write waits for the disk, and small writes measure the latency of a flush.
layer-discards = { $kind } at { $point } uses online discard ({ $option }): deleting files slows down the I/O that follows.
place-access-times = { $kind } at { $point } updates access times on every read: reads cause writes.
memory-checksums = btrfs at { $point } keeps checksums, so direct writes go through the page cache.
place-little-space = Only { $free } of the file system is free: new files are fragmented, and slower than the disk.
place-few-inodes = Only { $free } inodes are free: a test with many files will run out of them.
layer-memory-device = Results here are the speed of memory: { $path } is not a disk.
layer-no-storage = { $path } is not storage: results are the speed of the program and of memory.
outcome-device-hidden = The device below { $path } cannot be seen ({ $why }): no result can be proven.
outcome-counters-off = I/O statistics are off for { $device }, so no result can be proven.
layer-dax = { $device } supports DAX: such I/O is not in its counters.
layer-zoned = { $device } is zoned ({ $zones }): random writes and overwrites cost far more than on other disks.
flush-loop-cached = { $device } uses the page cache for its file { $file }: direct I/O ends there, in memory.
flush-virtual-disk = { $device } is a virtual disk: the host may cache it, which cannot be ruled out from here.
layer-translated = { $device } { $by }.
memory-all-cached = All of { $path } is in the page cache: it is not read from { $device }.
memory-only-first = Only the first run counts: repeated, it reads from the page cache, not from { $device }.
memory-no-effect = iflag={ $flag } has no effect on reads: they still go through the page cache.
outcome-behind-stream = What is behind { $output ->
    [yes] standard output
   *[no] standard input
 } is known only when the command runs, so no disk can be named.
layer-zeros-shrink = { $kind } at { $point } compresses ({ $option }), and zeros shrink to almost nothing: { $device } writes far fewer bytes.
layer-zeros-may-shrink = All-zero data may be faster than real data: a drive, a virtual disk or a thin volume may store almost none of it, which cannot be seen from here.
layer-zeros-skipped = conv=sparse skips blocks of zeros, and there are no others: nothing is written.
limit-random-data = The kernel generates the random data on one CPU inside the timing: with a fast disk this is CPU-bound.
memory-direct-gives-way = A direct { $reads ->
    [yes] read
   *[no] write
 } of { $bytes } bytes is refused, and BusyBox silently falls back to the page cache.
place-direct-copy-misfits = A direct { $reads ->
    [yes] read
   *[no] write
 } of { $bytes } bytes is not a multiple of { $sector }: it fails with 'Invalid argument' on most file systems.
limit-tiny-blocks = Blocks of { $block } cost two system calls each: on a fast disk this is the speed of the calls.
steady-little-copied = Only { $bytes } are copied: the journal, read-ahead and program start are a large part of the time.
data-translation-encrypted = is encrypted: CPU time is part of every result
data-translation-mirrored = is { $level }: each byte is written to more than one disk
data-translation-parity = is { $level }: a write smaller than a stripe is read-modify-write, with parity
data-translation-cached = keeps part of the data on a faster disk

## What a plan does, and what its figure is about

plan-copy-reads = Reads { $bytes ->
    [none] { $data ->
        [own] { $from } to its end
        [zeros] zeros from { $from }, endlessly,
       *[random] random data from { $from }, endlessly,
     }
   *[other] { $bytes } { $data ->
        [own] from
        [zeros] of zeros from
       *[random] of random data from
     } { $from }
 } in { $blocks ->
    [none] blocks
    [one] one block
   *[other] { $blocks } blocks
 } of { $block }{ $direct ->
    [yes] { " " }with direct I/O
   *[no] { "" }
 }.
plan-writes-to-output = Writes them{ $size } to standard output.
plan-writes-discarded = Writes them{ $size } to { $path }, which discards them.
plan-overwrites-device = Overwrites the device { $path }{ $size }{ $way }: all data on it, including file systems, is lost.
plan-writes-new-file = Writes them{ $size } to the new file { $path }{ $way }.
plan-truncates-file = Truncates the file { $path } and writes them{ $size } there{ $way }.
plan-writes-there = Writes them{ $size } to { $path }{ $way }.
plan-copies-with = It copies with { $call }.
plan-each-write-durable = Each write returns when its data is durable.
plan-fsync-each-block = An fsync after each block is inside the timing.
plan-both-syncs = An fdatasync and an fsync at the end are inside the timing.
plan-one-fsync = One fsync at the end is inside the timing.
plan-one-fdatasync = One fdatasync at the end is inside the timing.
plan-drive-cache-unflushed = The drive's write cache is not flushed before the clock stops.
plan-close-may-write = No flush: closing the device may write out dirty pages.
plan-stops-at-last-write = No flush: the clock stops when the last write returns.
plan-calls-without-data = Calls { $call } in place of I/O { $order } { $place }, for blocks of { $block }. { $moves ->
    [yes] The kernel moves their data.
   *[no] No data move.
 }
plan-does-blocks = { SENTENCE($actions) } { $order } { $place }, in blocks of { $listed ->
    [yes] up to { $block }
   *[no] { $block }
 }, { $in_flight ->
    [one] one
   *[other] { $in_flight }
 } in flight, { $way }.
plan-flushes-of-list = The flushes of the list are inside the timing.
plan-no-flush-inside = No flush inside the timing.
plan-flush-every = A flush after { $writes ->
    [one] each write
   *[other] every { $writes } writes
 } is inside the timing.
plan-flush-between = Flushes between { $writes ->
    [one] writes
   *[other] each { $writes } writes
 } are inside the timing, and none after the last.
plan-flush-at-end = One flush at the end is inside the timing.
plan-does-files = { SENTENCE($action) } { $files } files below { $dir }.
plan-written-before = { $written } that earlier programs had left in memory were written first, in { $time }{ $more ->
    [yes] , and more is still being written
   *[no] { "" }
 }
plan-judged-by = { $place }: what follows is judged by { $judged_by }
absent-place-hidden = cannot be looked at ({ $why })
absent-place-missing = is not there
absent-place-with-folder = is not there, nor is { $folder }
copy-source-standard-input = standard input
copy-source-path = { $value }
copy-size-as-read = { "" }
copy-size-blocks = { " " }in blocks of { $value }
copy-way-direct = { " " }with direct I/O
copy-way-cached = { " " }through the page cache
job-order-listed = one by one from a list
job-order-backward = backward
job-order-sequential = sequentially
job-order-random = at random
planned-place-file = in the file { $value }
planned-place-own-file = in its own file in { $value }
planned-place-files = in { $value } files
planned-place-files-named = in { $count } files named { $stem }
planned-place-device = on the device { $value }
planned-place-nowhere = nowhere
job-way-direct = with direct I/O
job-way-direct-if-real = with direct I/O where possible
job-way-cached = through the page cache
planned-action-does = { $value }s
planned-action-mixed = I/Os

preparation-writing-others = writing what earlier programs left in memory
preparation-allocating-file = allocating the test file
preparation-writing-file = writing the test file
preparation-removing-files = removing the files of the phase before
preparation-making-files = creating the files
preparation-awaiting-device = waiting for the device, which is still busy
preparation-watching-flush = watching the flush

about-is-memory = memory: { $what }
about-is-path-through = the path through { $what }
about-is-in-turn = reading and writing in turn, at the speed of the slower end (writing to { $disk })
about-is-direct-read = { $disk }, one read of { $block } in flight
about-is-read-ahead = sequential reads of { $disk } in large requests, with read-ahead
about-is-durable-write = the latency of a durable { $block } write to { $disk }
about-is-write-to-cache = { $disk } with its write cache, one write of { $block } in flight
about-is-direct-write = { $disk }, one write of { $block } in flight, flushed at the end
about-is-large-file = how fast a large file gets to { $disk } through the page cache, flush included
about-is-up-to-close = { $disk }, as far as the close writes out dirty pages
about-is-memory-taking = how fast memory takes { $bytes ->
    [none] what is written
   *[other] { $bytes }
 }
about-is-memory-and-disk = memory and { $disk } together
about-is-page-cache = the speed of the page cache
about-is-layers = the layers between the program and { $disk }
about-is-no-disk = memory, or the path to another machine
about-is-program = the program, its system calls and memory
about-is-nothing = nothing: there will be no result
about-is-unknown = unknown before the run
about-is-call = what the file system takes for { $call }
about-is-blocks = { $disk }, { $listed ->
    [yes] listed
   *[no] { $sequential ->
        [yes] sequential
       *[no] random
     }
 } { $action } of { $block }, { $in_flight ->
    [one] one
   *[other] { $in_flight }
 } in flight
about-is-files = how many files per second the file system on { $disk } { $action }
about-not-disk = a disk
about-not-disk-behind = the disk behind it
about-not-either-end = either end alone
about-not-peak-or-random-reads = peak speed, which needs a deeper queue; random reads
about-not-random-or-again = random reads; reading the same data again
about-not-large-files = the throughput of large files
about-not-peak-or-safe = peak speed; data that survives a power loss
about-not-peak-or-random-writes = peak speed, which needs a deeper queue; random writes
about-not-small-or-reads = random or small durable writes; reads
about-not-safe = data that survives a power loss
about-not-disk-in-time = { $disk }, which gets most or all of it after the clock has stopped
about-not-disk-alone = { $disk } alone
about-not-disk-itself = { $disk }
about-not-disk-of-fewer = { $disk }, which moves far fewer bytes than the result counts
about-not-any-disk = any disk
about-not-necessarily = necessarily { $disk }
about-not-told = { $disk }: no counter tells which of it the device does
about-not-peak-speed = peak speed, which needs a deeper queue
about-not-random-access = random access
about-not-single-or-large = the latency of a single I/O; large files
about-disk-named = { $value }
about-disk-unnamed = the disk

## Outcomes, and what was seen of them

outcome-never-arrived = What was written did not reach the device: { $cause }.{ $why ->
    [none] { "" }
   *[other] { " " }{ $why }
 }
outcome-phase-failed = The phase failed: cannot { $doing } { $path }: { $cause }.{ $why ->
    [none] { "" }
   *[other] { " " }{ $why }
 }
outcome-ios-failed = { $errors ->
    [one] One I/O failed.
   *[other] { $errors } I/Os failed.
 }
outcome-some-wrong = { $wrong } of { $looked } blocks did not hold what was written there, and the other { $right } did: the device is failing, or something else has written there since.
outcome-not-of-this-plan = { $wrong } blocks did not hold this plan's data, but the plan may never have written them: this says nothing about the device.
outcome-wrong-data = { $wrong } blocks did not hold what was written there: the device is fake or failing. Back up what is on it.
outcome-no-device-involved = No device was involved: this is the speed of the program itself.
outcome-without-data = { $by } the device did, and when, is unknown.
outcome-trims-unknown = Trims move no data, so when the device actually did the work is unknown.
outcome-names-in-memory = This is the speed of memory: { $device } was idle.
outcome-names-unknown = { $device }'s share is unknown: the kernel does not account metadata I/O per file.
outcome-too-little = Only { $moved } was moved, which is too little to measure.
outcome-unknown = What this figure measures is unknown: { $why }.
dataless-calls-move-extents = EXT4_IOC_MOVE_EXT has the kernel move the data: how much of its work
dataless-calls-resize = fallocate() and ftruncate() move no data: how much of their work
failure-reason-direct-unit = Direct I/O takes blocks and offsets in multiples of { $unit } bytes here.
failure-reason-direct-misfit = Direct I/O takes blocks and offsets in multiples of { $unit } bytes here, and { $block } is none.
failure-reason-hint = { SENTENCE($value) }.
missing-evidence-flows = the record does not say which bytes went where
missing-evidence-device = the device below { $path } could not be found
missing-evidence-no-device = no device was found below { $path }
missing-evidence-counters = the counters of { $device } could not be read
missing-evidence-dax-inodes = files may bypass the counted queue (dax=inode)
missing-evidence-only-journal = so little was written that only the journal may have reached the device

## Places

place-partial-sectors = { $block } is not a multiple of the physical sector of { $device } ({ $sector }): it reads before it writes (read-modify-write).
place-partial-blocks = { $block } is not a multiple of the file system's block size ({ $unit }): such direct writes run one at a time.
place-partition-misplaced = { $partition } starts inside a physical sector ({ $sector }), so each of its blocks touches two; one that starts at a multiple of 1 MiB does not.
place-loop-misplaced = { $device } starts { $offset } bytes into its file: aligned writes straddle two blocks of the file.
place-fragmented = { $path } is in { $extents } extents: calls of { $calls } reached { $device } as requests of { $requests }.
place-nearly-full = The file system is nearly full ({ $free } free), which may slow it down.
place-first-writes = First writes to { $path }, which allocate: overwrites may be several times as fast.
place-copied-up = { $path } lay in a lower folder of the overlay: opening it for writing copied all of it to the upper folder first, before the clock or in it.
place-overwrites-shared = { $part } of { $path } shared its blocks with another file or a snapshot: the first write to each goes to a new place.
place-some-first-writes = { $first } of the writes to { $path } were first writes, which allocate, the others overwrites: the figure mixes both.
place-scattered = Random writes of { $block } reached { $reached } of the sequential throughput: for each one the card erases a whole, much larger block.
place-depends-on-place = The same work at { $offsets } offsets ran at { $least } to { $most }: the rate depends on the place, or on what was done before.
place-written-during-reads = { $written } was written to { $device } during reads: access times, or another program.
place-other-node = The workers ran on the wrong NUMA node: { $device } is local to CPUs { $near }, they ran on { $ran }.
place-worn-out = { $device } reports that it is worn out: it may be slow because of that, and fail soon. Back up what is on it, and replace it.
place-unconditioned = Whether { $device } is in steady state is unknown: a fresh drive writes faster than one that has been filled twice.
place-kept-working = { $device } kept working for { $time } after the last completion: that background work is in no figure.
place-still-working = { $device } was still working { $time } after the last completion: that background work is in no figure, and slows what follows.

## Flushes

flush-left-behind = { $left }{ $closed ->
    [yes] {" "}Closing a file flushes nothing.
   *[no] {""}
 }
flush-commits-every = { $file_system } commits its journal every { $interval }: a run of a few seconds includes one commit or none.
flush-committed-later = This was done in memory: { $file_system } commits its journal every { $interval }, and when the clock stopped { $device } had { $reached } of the writes that the changes cause.
flush-partly-committed-later = Part of this was done in memory: { $device } had { $reached } of the writes that the changes cause when the clock stopped; { $file_system } commits its journal every { $interval }.
flush-commits-by-chance = { $file_system } commits its journal every { $interval }, and the run took { $time }: the number of commits in it is chance, and the rest of their cost comes later.
flush-never-reached = The flush never reached { $device }{ $option ->
    [none] {""}
   *[other] {" "}(it is mounted with { $option })
 }: data in its cache are not safe on a power failure.
flush-each-write-flushed = Flush-bound: { $flushes } flushes for { $writes } writes{ $cause ->
    [mount] , as the file system is mounted sync
    [attribute] , as the file is synchronous (chattr +S)
   *[asked] {""}
 }; this is the latency of a durable write, not throughput.{ $amplified ->
    [none] {""}
   *[other] {" "}{ $device } wrote { DIGITS($amplified, 1) } times as much as the program: each of its { $writes } writes was made durable on its own, with file system metadata and a flush.
 }
flush-written-more = { $device } wrote { DIGITS($times, 2) } times as much as the program: { $kind } adds metadata to each of these writes.
flush-written-twice = { $device } wrote { DIGITS($times, 2) } times as much as the program: the file system writes all data into its journal first ({ $option }).
flush-in-drive-cache = The data went into the write cache of { $device }: no flush was requested.
flush-only-written-out = Not durable: sync_file_range writes no metadata and does not flush the cache of { $device }.
flush-burst-into-memory = The first { $bytes } went into memory at { $first }; after that, writes were throttled to { $later }.
flush-host-may-cache = { $device } is a virtual disk and moved { $rate }, more than most drives can: its host may have answered from memory, which cannot be seen from here.

left-writes-all = This is the speed of memory: nothing had reached { $device } when the clock stopped.
left-writes-nearly-all = This is the speed of memory: almost nothing ({ $reached }) had reached { $device } when the clock stopped.
left-writes-nearly-all-of-copy = Writes were left in memory: the source was read, but almost nothing ({ $reached }) had reached { $device } when the clock stopped.
left-writes-some = Writes were left in memory: { $reached } of the bytes had reached { $device } when the clock stopped.
left-writes-some-pages = Writes were left in memory: part of the file was not yet written back when the clock stopped.

## Layers

layer-holes-read = { $part } of the range holds no data: zeros came from memory, and { $device } had nothing to read.
layer-trimmed-then-read = { $part } of what was read had been trimmed earlier in the same phase: zeros came from memory, and { $device } had nothing to read.
layer-trimmed-blocks = Reads of trimmed or unwritten blocks of { $device } are answered without reading flash.
layer-zeros-read-faster = { $part } of { $path } is zeros, and these blocks read { DIGITS($times, 1) } times as fast as others: { $device } answers them without reading (trimmed).
layer-zeros-not-comparable = { $part } of { $path } is zeros: trimmed or unwritten blocks are answered without reading, and there is too little other data to compare.
layer-blocks-shared = This is not the speed of a disk: { $part } of the copy shares its blocks with the source (reflink by copy_file_range), so that part was neither read nor written.
layer-read-encoded = { $part } of the file is compressed or encoded: { $device } read fewer bytes than the program got.
layer-data-reduced = Only { $reached } of what was written went to { $device }, although everything was flushed: something above it compressed, deduplicated or did not store the rest.
layer-deduplicates = The storage deduplicates: repeated data was written at { $repeated } or more, unique data at { $unique } at most.
layer-few-members = Only { $few } of { $all } devices side by side moved { $part } of the bytes: { $devices }.
layer-covers = The figure covers { $device } and everything below it: { $work }.
layer-end-in-memory = { $path } is memory, so the figure is that of the other end of the copy.
layer-ram-disk = This is the speed of memory, as requested: { $path } is a RAM disk.
layer-no-disk-below = { $foreseen ->
    [yes] Results here are
   *[no] This is
 } the speed of memory: { $path } is on { $on }, with no disk below it.{ $through_blocks ->
    [yes] {" "}Each write went through a file system and the block layer to get there; tmpfs and ramfs have neither.
   *[no] {""}
 }
layer-not-seen-from-here = { $foreseen ->
    [yes] Results here are
   *[no] This is
 } the speed of the path to the storage, not of a disk: { $path } is on { $on }, and what is behind it cannot be seen from here.
layer-no-storage-involved = No storage was involved: this is the speed of the program and of memory.
layer-mounted-dax = This is the speed of memory: { $point } is mounted with { $option }, which bypasses the block layer.
layer-written-by-zones = { $device } is zoned ({ $model }): each zone is written sequentially only.
layer-trimmed-meanwhile = { $device } was trimmed during the run: { $by_mount ->
    [yes] the file system is mounted with discard
   *[no] not by this run
 }.

layer-work-encrypts = it encrypts
layer-work-mirrors = it writes each byte to several drives
layer-work-keeps-parity = it keeps parity, so small writes read first

## Memory

memory-answered-by-itself = This is not the speed of a disk: { $device } answered by itself, as it does for holes in its backing file, and { $below } was idle.
memory-cached-below = This is the speed of memory: { $device } read from a cache below it, and { $below } was idle.
memory-read-from-memory = This is the speed of memory: { $reached ->
    [none] nothing
   *[other] { $reached }
 } of the data read came from { $device }.
memory-read-from-both = This is a mix of disk and memory: { $reached } of the data read came from { $device }, the rest from the page cache.
memory-source-not-from-disk = Part of { $source } did not come from its disk; the figure is of the target, { $target }.
memory-cached-before = Part of { $path } was in the page cache before it was read.
memory-not-dropped = { $path } was dropped from the page cache before the run, but part of it stayed.
memory-larger-than-memory = The file is larger than memory, but { $left } of it had not reached { $device } when the clock stopped.
memory-not-direct-at-stop = Direct I/O is not direct here: { $reached ->
    [none] none
   *[other] { $reached }
 } of the bytes had reached { $device } when the clock stopped.
memory-not-direct = Direct I/O is not direct here: the file system accepts O_DIRECT but goes through the page cache.{ $journal ->
    [none] {""}
   *[other] {" "}All data is written twice ({ $journal }).
 }
memory-written-back-at-once = Direct writes go through the page cache here, and the file system writes them back at once: all of them had reached { $device }.
memory-last-block-not-direct = The last { $bytes } went through the page cache: a block that is shorter than { $block } turns O_DIRECT off{ $flushed ->
    [yes] ; the flush at the end is inside the timing
   *[no] {""}
 }.
memory-overwritten-in-cache = Blocks were overwritten in the page cache{ $behind ->
    [none] {""}
   *[other] {" "}of the file behind { $behind }
 } before they were flushed: { $device } got only { $reached } of the bytes.
memory-truncated-unwritten = { $path } was truncated to { $left } during the measurement: dirty pages that had not reached { $device } by then were dropped and never will.
memory-dropped-unwritten = { $bytes } of dirty pages were dropped before they reached { $device }, and never will.
memory-deleted-unwritten = { $bytes } of dirty pages were dropped when these files were deleted or truncated: they never reached { $device }.
memory-read-ahead = Read-ahead served { $calls } calls with { $requests ->
    [one] one request
   *[other] { $requests } requests
 }: throughput is that of { $device }, latency and IOPS are those of memory.
memory-read-past-end = Read-ahead went past the end: { $device } read { DIGITS($times, 2) } times the bytes requested.
memory-read-amplified = Read amplification: { $device } read { DIGITS($times, 2) } times the bytes requested.

## Ways to write and to read

mode-fastest-modes = { $modes } { $several ->
    [yes] come
   *[no] comes
 } to { $least ->
    [none] { $most }
   *[other] { $least } to { $most }
 }: { $how }
mode-slower-mode = { $mode } reaches { $rate }, { $less } less: { $why }.
mode-modes-unranked = { $modes }: { $claims }
mode-modes-not-flushed = { $modes }: It was not flushed.
mode-all-written-back = { $mode } reaches { $rate ->
    [none] -
   *[other] { $rate }
 }: everything was already written back.
mode-not-all-written-back = { $mode } shows { $rate ->
    [none] -
   *[other] { $rate }
 }{ $most ->
    [yes] , the speed of memory
   *[no] { "" }
 }: { $lost ->
    [none] how much was written back cannot be seen
   *[other] { $lost } of { $moved } were only in memory when the clock stopped
 }.{ $with_flush ->
    [none] { "" }
   *[other] { " " }With a flush it is { $with_flush }.
 }
mode-only-in-memory = { $lost } of { $moved } were only in memory when the clock stopped.
mode-lead-limited = { $claims }
mode-lead-unknown = what limits it is unknown: { $why }.
mode-lead-gaps = { $gaps }; { $queue } on average.
mode-lead-worked = { $calls }{ $work }, with { $queue } on average.
gathered-calls-single = { "" }
gathered-calls-written-back = the page cache takes the writes and writes them back in parallel;{ " " }
gathered-calls-read-ahead = read-ahead keeps the device busy;{ " " }
mode-slowdown-unseen = the cause is unknown: { $why ->
    [none] no readings
   *[other] { $why }
 }
mode-slowdown-no-rate = no rate to compare it with
mode-slowdown-same-limit = the same limit applies; { $queue }
mode-slowdown-limit = { CLAUSE($claims) }; { $queue }
mode-slowdown-disturbed = { CLAUSE($claims) }
mode-slowdown-flushes = { $flushes ->
    [none] { $work }
   *[other] each write waits for a flush, { $flushes } flushes for { $calls } writes: { $work }
 }; { $queue }
mode-slowdown-cpu = CPU-bound: the program used a CPU { $cpu } of the time, and { $device } was idle { $idle }
mode-slowdown-queued = other programs had the CPUs: it waited for one { $waited } of the time, and { $device } was idle { $idle }
mode-slowdown-gaps = { $gaps }; { $queue }
mode-slowdown-read-first = read-modify-write: { $device } read { $read } for { $moved } written; { $queue }
mode-slowdown-more-bytes = write amplification: { $device } wrote { $written } for { $moved } from the program, { $mapped ->
    [yes] because a store dirties a whole large page
   *[no] including file system metadata
 }; { $queue }
mode-slowdown-forced = each write bypasses the write cache of { $device } (FUA), and the next one waits for it; { $queue }
mode-slowdown-small-requests = smaller requests, each with its own overhead; { $queue }, where { $best } had { $theirs }
mode-slowdown-depth = a shallower queue on { $device }; { $queue }, where { $best } had { $theirs }
mode-slowdown-slower = { $device } took longer for the same kind of requests as { $best }; { $queue }
device-gaps-above = the { $writes ->
    [yes] writes
   *[no] reads
 } waited above { $device }, which was idle { $idle } of the time
device-gaps-between = one { $writes ->
    [yes] write
   *[no] read
 } in flight{ $each }: { $device } was idle for { $gap } between two of them, { $idle } of the time
durable-each-no = { "" }
durable-each-flushed = , each durable before the next ({ $flushes } flushes for { $calls } writes)
durable-each-uncounted = , each durable before the next (this kernel does not count flushes)
device-work = { $device } was { $busy } busy{ $flushing ->
    [none] { "" }
   *[other] { " " }and { $flushing } flushing
 }
device-queue-requests = { DIGITS($depth) } requests of { $size } in flight
device-queue-empty = no requests

## Limits

limit-at-cgroup-limit = Limited by a cgroup to { $limit } ({ $file }){ $flushed ->
    [yes] ; all data was flushed
   *[no] { "" }
 }.
limit-at-member-limit = Limited by a cgroup to { $limit } of { $device } ({ $file }), one of { $devices } devices side by side, which moved { $part } of the bytes.
limit-held-by-cgroup = Limited by a cgroup, which holds the rate below { $limit } ({ $file }): it held the run for { $held } of its time.
limit-above-cgroup-limit = Limited by a cgroup to { $limit } ({ $file }), which lets a moment's worth pass at once: in { $time } that makes { $figure }. What lasts is the limit.
limit-cgroup-below-figure = A cgroup limits { $device } to { $limit } here, whatever the device can do ({ $file }).
limit-paced-by-plan = Held back by the rate or the pauses of the plan: { $device } was busy { $busy } of the time, so this is not its peak speed.
limit-link-is-limit = { $foreseen ->
    [yes] Figures are limited
   *[no] Limited
 } by the link of { $device }: { $mode ->
    [none] it
   *[other] { $mode }
 } carries at most { $most }.
limit-link-below-both-ends = The link of { $device } runs as { $mode }, at most { $most }; { $possible } is possible, perhaps in another port or slot, or by another cable.
limit-above-queue-by-cgroup = Limited above the queue of { $device }, where { $file } holds the rate below { $limit }: the program waited while the device was mostly idle.
limit-above-queue = Limited by something above the queue of { $device }: the program waited while the device was mostly idle.
limit-page-cache-path = Limited by the path through the page cache, not by { $device }: { $device } was busy { $busy } of the time, and the program was on a CPU { $cpu }.
limit-cpu-quota = Throttled by the cgroup's CPU limit { $throttled } of the time; { $device } was idle in between.
limit-cpu-wait = Waiting for a CPU, not for { $device }: { $waited } of the time other processes had the CPUs.{ $users ->
    [none] { "" }
   *[other] { " " }{ $users }.
 }
limit-cpu-wait-in-memory = The program waited for a CPU { $waited } of the time; { $device } was idle in between.{ $users ->
    [none] { "" }
   *[other] { " " }{ $users }.
 }
limit-cpu-users-beside = Meanwhile { $users }{ $waited ->
    [none] { "" }
   *[other] ; this run waited for a CPU { $waited } of the time
 }.
limit-dirty-memory = Limited by memory for unwritten data: the program waited for it { $waited } of the time, and { $device } was idle in between.
limit-hot-drive = { $at_limit ->
    [yes] { $device } is at its temperature limit and throttles itself.
   *[no] { $device } is close to its temperature limit, where it throttles itself.
 }
limit-throttled-cpus = Heat or low voltage throttled the CPUs, { $device_waited ->
    [yes] and the device waited for them: this is the rate of a throttled machine
   *[no] but the device was busy, so it hardly mattered
 }.
limit-run-stopped = The run stood still for { $stopped } of { $time }: { $by }.
limit-worker-stopped = Worker { $worker } of { $of } stood still for { $stopped } of { $time }: { $by }.
limit-traced = A debugger or tracer (strace, gdb) held the program at each of its calls: the device was at work for only { $worked } of the time.
stop-cause-cgroup = its cgroup was frozen
stop-cause-file-system = its file system was frozen (fsfreeze)
stop-cause-tracer = a debugger or tracer (strace, gdb) held it
stop-cause-signal = a signal had stopped it (SIGSTOP)
stop-cause-unseen = it was stopped or frozen, or the machine was paused
limit-machine-suspended = The machine was suspended for { $suspended } while the run went on: that is no part of its time, but the device had to start anew.
limit-other-end-of-pipe = Limited by the program at the other end of the pipe: the run waited for it { $waited } of the time.
limit-file-lock = Limited by the lock of the file: { $writes } writes were in flight, but { $device } had { $had }; writes that allocate wait for each other.
limit-memory-copy = Limited by the copy { $reads ->
    [yes] from
   *[no] into
 } the page cache: it ran { $of_speed ->
    [none] as fast as
   *[other] at { $of_speed } of the speed at which
 } this machine copies; { $device } was idle in between.
limit-cpu-bound = CPU-bound: each worker used { $cpu } of a CPU; { $device } was idle in between.
limit-program-bound = Limited by the program, not by { $device }: it was on a CPU { $cpu } of the time (copying { $reads ->
    [yes] out of
   *[no] into
 } the page cache included), { $idle } while { $device } had nothing to do.
limit-source-bound = Limited by the source: { $generating } of the time went into generating data.
limit-bytewise-bound = CPU-bound: workers ran or waited for a CPU { $cpu } of the time, one call per byte ({ $method }); { $device } was idle in between.
limit-latency-bound = Latency-bound at depth 1: { $device } was busy { $busy } of the time, so this is not its peak speed.
limit-depth-not-reached = Queue depth not reached: { $device } had { $had } of { $planned } I/Os in flight on average ({ $part }); { $rest }.

missing-requests-not-sent = the program did not send them
missing-requests-held-by-limit = the others waited for the limit of a cgroup, { $limit } ({ $file })
missing-requests-above-queue = the others waited above its queue
missing-requests-unknown = where the others waited is unknown

cgroup-limit-bytes-per-second = { $value }
cgroup-limit-operations-per-second = { $value } operations per second

## Others

others-device-shared = Other programs used { $device } at the same time: { $foreign }.{ $movers ->
    [none] { "" }
   *[other] { " " }Meanwhile { $movers }.
 }
others-moved-by-nobody = { $foreign } of the { $moved } that { $device } moved were not requested by this run, and no process was seen that moved them: { $source }.
others-partners-beside = This is only part of what { $device } did: { $count ->
    [one] a partner
   *[other] { $count } partners
 } on the same semaphores ({ $partners }) moved { $moved } meanwhile, { $total } in total, at { $pace }.
others-read-by-others = Another program read the same data: this run asked { $device } for only { $own } of its bytes, and found the rest in memory.
others-earlier-writeback = Writeback of earlier writes was still running: { $device } got { $written } in the { $time } before the start, and { $dirty } were still dirty.
others-both-ends-on-disk = Both ends of the copy are on the same disk, { $disk }: { $work }.
others-machine-swapped = The machine was short of memory and swapped { $swapped } during the run.
others-time-unexplained = { $part } of the time is unexplained: the run waited, but not for its device, a CPU, or a limit that can be seen.
others-bytes-unexplained = { $part } of the bytes { $reads ->
    [yes] read
   *[no] written
 } are unexplained: the calls moved { $called }, { $device } moved { $at_device }, and nothing that was seen makes up for the difference.

foreign-part-bytes = { $part } of the { $whole } that it moved were not from this run
foreign-part-requests = { $value } of its requests were not from this run

foreign-source-inode-tables = ext4, which may be writing the inode tables of a new file system (ext4lazyinit), or another program
foreign-source-writeback = the kernel, which wrote back { $value } of pages that programs had changed before
foreign-source-unknown = the file system itself, or another program

disk-of-both-ends-foreseen = it reads and writes in turn, so it moves twice this many bytes
disk-of-both-ends-read-all = it read and wrote in turn, so it moved twice this many bytes
disk-of-both-ends-read-part = it read { $read } of { $of } and wrote in turn

named-process-itself = { $name } (process { $pid })
named-process-started-by = programs started by { $name } (process { $pid })
cpu-user = { $process } used { $cpu } of a CPU
foreign-mover = { $process } { $moved }
moved-bytes-read = read { $value }
moved-bytes-written = wrote { $value }
moved-bytes-both = read { $read } and wrote { $written }

## Steady rates

steady-rate-fell = { $device } fell from { $fast } to { $slow } after { $after }{ $with ->
    [none] { "" }
   *[other] , and with it the { $with }
 }{ $average }
steady-hidden-stalls = The average hides { $stalls ->
    [one] a stall of
   *[other] { $stalls } stalls, the longest of
 } { $longest }.
steady-not-steady = { $end }, after { $time }.
steady-two-rates = The rate of { $device } changed{ $with ->
    [none] { "" }
   *[other] , and with it the { $with }
 }: { $first } for { $first_time }, then { $second } for { $second_time }; the average is neither.
steady-many-rates = The rate of { $device } changed { $changes } times, between { $least } and { $most }: the average is the rate of no moment.
steady-rate-drifted = The rate of { $device } changed all the time: { $average } on average, { $lasts } in the last half.
steady-limit-changed = The limit on { $device } changed while the run went on, from or to { $limit } ({ $file }): the average is the rate of no moment.
steady-setting-changed = The { $step } changed while the run went on: the figure is of neither.
steady-uneven-rate = The rate of { $device } spreads by ±{ $spread } around its median: one figure cannot describe it.
steady-no-data-moved = No data was moved, so there is no figure.
steady-too-short = The run took { $time }, which is too short to measure.
steady-queued-behind-others = I/Os queued behind earlier ones: the p99 is { $due } from when they were due, but { $sent } from when they were submitted.

average-of-fall-near-second = ; the average is close to the second rate.
average-of-fall-told-apart = ; the sustained rate is told apart from the average.
average-of-fall-neither = : the average, { $value }, is neither.

end-before-steady-interrupted = Interrupted before it was steady
end-before-steady-failed = Failed before it was steady
end-before-steady-stopped = Stopped before it was steady
end-before-steady-at-time = Stopped at the { $value } limit before it was steady
end-before-steady-at-bytes = Stopped at the { $value } limit before it was steady
end-before-steady-at-operations = Stopped at the { $value } operations limit before it was steady

went-on-until-steady = Ran for { $value }, until its rate was steady
went-on-never-steady = Ran for { $value }, and its rate was still not steady

condition-step = { $what } (from { $before } to { $now })
condition-of-pcie-link = PCIe link of { $value }
condition-of-sata-link = SATA link of { $value }
condition-of-usb-link = USB link of { $value }
condition-of-card-bus = card bus of { $value }
condition-of-cpu-ceiling = highest allowed CPU frequency of { $value }
condition-of-cpu-cooling = cooling of CPUs by { $value }
condition-of-heat-throttling = count of throttling for heat of { $value }
condition-of-voltage = voltage of { $value }
condition-of-temperature = temperature of { $value }
condition-of-free-space = free space of { $value }
condition-of-requests-of-others = requests of others in flight at { $value }
condition-of-queue-setting = queue setting { $value }
condition-of-read-limit = limit on reads of { $value }
condition-of-write-limit = limit on writes to { $value }
condition-state-mode = { $value }
condition-state-times = { $value }
condition-state-megahertz = { $value } MHz
condition-state-step = step { $value }
condition-state-voltage-low = too low
condition-state-voltage-high = high enough
condition-state-celsius = { $value } °C
condition-state-free = { $value }
condition-state-in-flight = { $value } on average
condition-state-none-in-flight = none
condition-state-limit = { $value }

## Studies

capacity-capacity-unknown = Capacity unknown: { $why }.
capacity-all-read-back = All { $space } read back as written.
capacity-spread-read-back = { $blocks ->
    [one] 1 block
   *[other] { $blocks } blocks
 }, spread over { $space } and at its end, read back as written.
capacity-addresses-wrap = { $misplaced } of { $all } blocks hold data that was written to other blocks: the addresses wrap around.
capacity-blocks-lost = { $wrong } of { $all } blocks were accepted but are lost: the device does not keep what is written there.
capacity-blocks-changed = { $wrong } of { $all } blocks do not read back as written, the others do: the device loses or changes data.
capacity-gap-nothing-checks = no phase of the plan checks what the blocks hold
capacity-gap-not-written = a block could not be written ({ $fault })
capacity-gap-interrupted = the run was interrupted before a block was read back
capacity-gap-not-read-back = no block was read back
capacity-gap-not-finished = the run did not finish
capacity-gap-read-unwritten = some of the blocks that were read had not been written
capacity-gap-space-not-taken = the test file does not occupy the space between the blocks
capacity-gap-not-from-device = the counters do not show that the blocks came from the device
capacity-gap-judged = { CLAUSE($claims) }

card-not-proven = { $work } { $why }
card-rate-missed = { $work } reach { $reached } of { $least }
card-operations-missed = { $work } reach { $reached } of { $least } per second
card-slow-seconds = { $work } reach it on average, but only { $slowest } in their slowest seconds
card-queue-needed = it needs a host with a command queue, and this one shows none
card-no-queue-in-use = No command queue is in use: the card gets random I/Os one at a time.
card-bus-mode-unknown = The bus mode of { $device } is unknown: it may be a slow one.
card-link-below-class = The link of { $device } runs as { $mode }, at most { $most }.
card-link-could-do-more = { $device } runs as { $mode }, but could run at { $possible }.
card-hidden-by-reader = { $device } is in a USB reader ({ $mode }, { $driver ->
    [none] a driver that is not named
   *[other] { $driver }
 }), which hides the registers and the command queue of a card.
card-work-sequential-writes = sequential writes of { $value }
card-work-random-reads = random reads
card-work-random-writes = random writes
grade-gap-not-measured = were not measured
grade-gap-not-to-the-end = were not measured to the end
grade-gap-not-judged = were not judged
grade-gap-not-believed = have a result that is { $trust } ({ CLAUSE($claims) })
grade-gap-no-result = have no result
grade-gap-too-short = did not run long enough

bound-figures-not-devices = the figures are not the device's: { $trust } · { $measures }
bound-by-cgroup = cgroup limit of { $limit } ({ $file })
bound-one-step = one step is not enough to tell
bound-still-growing = throughput was still growing { $stopped ->
    [yes] when the run was stopped
   *[no] at the last step
 }
bound-no-counters = no device counters could be read. { $claims }
bound-queue-full = { $device } was saturated, with { $had } of { $planned } I/Os in its queue
bound-workers-on-cpus = the workers used { $used } of { $cpus ->
    [one] a CPU
   *[other] { $cpus } CPUs
 }{ $waited ->
    [none] { "" }
   *[other] { " " }and waited for a CPU { $waited } of the time (other processes or a CPU limit)
 }
bound-held-above-queue = only { $had } of { $planned } I/Os reached the queue of { $device } and no CPU was saturated: the rest waited above it, for example on a file lock

obstacle-misfits-unit = { $less ->
    [yes] smaller than
   *[no] not a multiple of
 } a logical block of { $device } ({ $align } bytes)
obstacle-larger-than-room = larger than { $divided ->
    [yes] each worker's part of the
   *[no] the
 } { $there } available
obstacle-larger-than-written = larger than { $divided ->
    [yes] each worker's part of the
   *[no] the
 } test file ({ $there }, all that could be written in its time)
obstacle-no-time-left = no time was left: { $seconds } s in total
cell-instead-multiples = use blocks that are multiples of { $align } bytes
cell-instead-smaller = use smaller blocks, or a larger --size
cell-instead-smaller-or-longer = use smaller blocks, or a longer --time
cell-instead-of-tool = { $value }

## Summaries

summary-nothing-found = Nothing was found against this figure.
summary-speed-of-device = This is the speed of the device: { $arrived }.
summary-speed-of-served-file = This is the speed of { $device } and of the program that serves its file ({ $on }); no disk can be seen below it: { $arrived }.
summary-arrived = { SENTENCE($arrived) }.
summary-not-peak = { $device } was busy { $busy } of the time, so this is not its peak speed.
summary-flush-ran-on = The flush was still running when the watch ended, at { $pace }.
summary-with-flush = With the flush the disk did { $pace }.
summary-part-from-disk = The part that came from the disk was read at { $pace }.
summary-all-valid = All { $results } results are valid.
summary-some-valid = { $valid } of { $results } results are valid.
summary-of = { $phase }: { $claim }
summary-of-several = { $phase } and { $others }: { $claim }
summary-not-finished = The run did not finish: cannot { $doing } { $path }: { $why }.
summary-something-left = Something is left: cannot { $doing } { $path }: { $why }.
summary-nothing-measured = Nothing could be measured: { $block } is { $why }; { $instead }.
summary-no-result = No phase finished, so there is no result.
summary-nothing-foreseen = No problem can be seen before the run.

data-arrival-from = all bytes came from { $device }
data-arrival-at = all bytes had reached { $device } when the clock stopped
data-arrival-flushed = all bytes had reached { $device }, flushed, when the clock stopped
data-arrival-both = { $first }, and { $second }

corrected-to-device = { $label ->
    [yes] the
   *[no] The
 } device itself
corrected-to-lasting = { $label ->
    [yes] what
   *[no] What
 } lasts

other-phases-all = all others
other-phases-some = { $value ->
    [one] one other
   *[other] { $value } others
 }

## Transfers

transfer-ended-before-plan = { $path } ended before the plan did.
transfer-ended-before-count = { $path } ended before the count was reached.
transfer-truncated = { $path } was truncated from { $from } to { $to } while it was read: the copy moved less than was there.
transfer-short = { $calls ->
    [one] One call
   *[other] { $calls } calls
 } transferred less than requested; only the bytes transferred are counted.
transfer-short-pipe-reads = A short read from a pipe counts as a full block: fewer bytes than count times bs are copied.
transfer-one-read-at-most = One read returns at most { $most } bytes: each block of { $block } is short, and fewer bytes are copied.
transfer-does-not-fit = { $bytes } do not fit: the copy fails with 'No space left on device'.
transfer-without-end = The copy has no end: it fails with 'No space left on device' when the disk is full.

## What shows it: what was read

exhibit-of-said = { $value }
exhibit-of-memory = memory
exhibit-of-swapped = swapped in and out during the run
exhibit-of-dirty-at-start = dirty and under writeback at the start
exhibit-of-dirty-at-stop = dirty pages of the machine when the clock stopped
exhibit-of-dirty-dropped = dirty pages dropped by this process
exhibit-of-dirty-limit = dirty limit
exhibit-of-pages-written-back = pages written back meanwhile
exhibit-of-io-pressure = I/O pressure (some)
exhibit-of-cpu-limit = CPU limit
exhibit-of-cpus-run-on = CPUs the workers ran on
exhibit-of-cpus-throttled = CPUs throttled for heat
exhibit-of-highest-cpu-frequency = highest allowed CPU frequency
exhibit-of-cooling = cooling by { $value }
exhibit-of-board-voltage = voltage of the board
exhibit-of-cpu-time-of = CPU time of { $value }
exhibit-of-io-of = I/O of { $process } in { $time }
exhibit-of-condition = { $value }
exhibit-of-cgroups = cgroups
exhibit-of-swap-area = swap
exhibit-of-governor = governor
exhibit-of-clock-source = clock source
exhibit-of-cpu-per-worker = CPU time of each worker
exhibit-of-run-delay = run delay of each worker
exhibit-of-waiting-for-cpu = waiting for a CPU
exhibit-of-waiting-for-memory = waiting for memory
exhibit-of-waiting-for-other-end = waiting for the other end
exhibit-of-throttled-by-cgroup = time throttled by the cgroup
exhibit-of-below-limit = time below the limit
exhibit-of-frozen = time in a frozen cgroup
exhibit-of-suspended = time suspended
exhibit-of-traced-by = traced by process
exhibit-of-seen-stopped = looks at its threads that found them stopped
exhibit-of-without-sample = time in which no sample could be taken
exhibit-of-time-without-cause = time without a cause
exhibit-of-time-with-cause = the rest
exhibit-of-time = time
exhibit-of-clock-resolution = clock resolution
exhibit-of-counters-of-kernel = counters of the kernel
exhibit-of-planned-depth = planned queue depth
exhibit-of-planned-size = bytes
exhibit-of-writes-in-flight = writes in flight
exhibit-of-block-size = block
exhibit-of-method = method
exhibit-of-caching = caching
exhibit-of-durability = flushes
exhibit-of-file-at-start = in the file at the start
exhibit-of-command-option = { $value }
exhibit-of-in-flight-from-program = in flight from the program, average
exhibit-of-read-calls = read calls
exhibit-of-write-calls = write calls
exhibit-of-write-size = write size
exhibit-of-short-calls = short calls on { $value }
exhibit-of-flushes-requested = flushes requested
exhibit-of-flush-after-stop = flush after the clock stopped
exhibit-of-time-per-durable-write = time per durable write
exhibit-of-mean-latencies = mean latency of a call, and in the device
exhibit-of-p99-from-due = p99 of { $value } from the due time
exhibit-of-p99-from-submission = p99 of { $value } from submission
exhibit-of-time-in-reads = time in reads of { $value }
exhibit-of-single-reads-before = single reads before
exhibit-of-single-reads-after = single reads after
exhibit-of-mean-of-run = mean over the whole run
exhibit-of-last-half = mean over its last half
exhibit-of-reached = reached
exhibit-of-reached-with-overhead = reached, including file system overhead
exhibit-of-before-fall = before the fall
exhibit-of-after-fall = after the fall
exhibit-of-at-first = at first
exhibit-of-from-time = from { $value } on
exhibit-of-from-offset = from offset { $value }
exhibit-of-throughputs = throughput of { $phase } and of { $other }
exhibit-of-rates-of-unique-data = rates with unique data
exhibit-of-rates-of-repeated-data = rates with repeated data
exhibit-of-spread-of-rate = spread of the rate
exhibit-of-longest-stall = longest time with almost no I/O completed
exhibit-of-in-memory-of-that = of that in memory, not yet at the device
exhibit-of-written-after-that = written after that
exhibit-of-copied-through-cache = copied { $reads ->
    [yes] from
   *[no] into
 } the page cache in calls of { $block }
exhibit-of-written-through-cache = written through the page cache
exhibit-of-read-by-kernel = read by the kernel for this process
exhibit-of-read-for-run = read for this run
exhibit-of-wrong-blocks = blocks with wrong data
exhibit-of-right-blocks = blocks with the right data
exhibit-of-known-written = known to be written to { $value } by this plan before
exhibit-of-answer-to = answer when asked to { $doing } { $path }
exhibit-of-direct-alignment = alignment for direct I/O
exhibit-of-misaligned-read = misaligned direct read
exhibit-of-differing = { $value }
exhibit-of-queue-setting = { $setting } of { $first }{ $second ->
    [none] {""}
   *[other] {" "}and of { $second }
 }
exhibit-of-below = below { $value }
exhibit-of-mount = mount
exhibit-of-mount-options = options of { $value }
exhibit-of-mount-option = mount option of { $value }
exhibit-of-journal-commits = journal commits of { $value }
exhibit-of-file-system-block = file system block size
exhibit-of-free-on = free on { $value }
exhibit-of-free-inodes = free inodes
exhibit-of-extents-of = extents of { $value }
exhibit-of-holes-in = holes and unwritten extents in { $value }
exhibit-of-encoded-in = compressed or encrypted in { $value }
exhibit-of-trimmed-in = trimmed in { $value } during the phase
exhibit-of-allocated-before = allocated before in { $value }
exhibit-of-written-before = written before in { $value }
exhibit-of-shared-with-other-file = part of the output shared with another file
exhibit-of-length-after = length of { $value } after the phase
exhibit-of-cached-before = cached before the read
exhibit-of-pages-cached-before = pages of { $value } cached before
exhibit-of-cached-after-drop = in the page cache after the drop
exhibit-of-dirty-of-file = dirty pages of { $value } when the clock stopped
exhibit-of-zero-blocks = zero blocks of { $value }; median (quartiles) of their read times and of others
exhibit-of-at-stop = { $reads ->
    [yes] read from
   *[no] written to
 } { $device } when the clock stopped
exhibit-of-at-stop-of-total = written to { $value } when the clock stopped, of the total after the flush
exhibit-of-after-flush = written to { $value } after the flush
exhibit-of-before-start = written to { $value } before the start
exhibit-of-read-meanwhile = read from { $value } during the phase
exhibit-of-written-meanwhile = written to { $value } during the phase
exhibit-of-written-to = written to { $value }
exhibit-of-written-for = written to { $device } for { $asked }
exhibit-of-known-writes = known writes to { $value }
exhibit-of-moved-by = moved by { $value }
exhibit-of-foreign-bytes = foreign bytes on { $value }
exhibit-of-bytes-without-cause = bytes without a cause at { $value }
exhibit-of-quiet-traffic = read, written on { $value } in the quiet time before
exhibit-of-in-flight-at-start = requests in flight at the start
exhibit-of-work = { $value }
exhibit-of-counters-of = counters of { $value }
exhibit-of-requests-at = requests at { $value }
exhibit-of-read-requests-of = read requests of { $value }
exhibit-of-request-size = average request size of { $value }
exhibit-of-flushes-of = flushes of { $value }
exhibit-of-discards-of = discards of { $value }
exhibit-of-supports-discard = { $value } supports discard
exhibit-of-write-cache = write cache of { $value }
exhibit-of-physical-sector = physical sector of { $value }
exhibit-of-logical-sector = logical sector of { $value }
exhibit-of-erase-block = erase block of { $value }
exhibit-of-limit-on = limit on { $value }
exhibit-of-link-of = link of { $value }
exhibit-of-driver-of = driver of { $value }
exhibit-of-class-of = class of { $value }
exhibit-of-direct-to = direct I/O to { $value }
exhibit-of-bus = bus
exhibit-of-kind-of = kind of { $value }
exhibit-of-level-of = level of { $value }
exhibit-of-node-of = node of { $value }
exhibit-of-dax = dax of { $value }
exhibit-of-zones = zones of { $value }
exhibit-of-start-of = start of { $value }
exhibit-of-offset-in-file = offset
exhibit-of-lowest-of-both-ends = lowest device of both ends
exhibit-of-temperature = temperature of { $value }
exhibit-of-life-used = life used of { $value }, in tenths
exhibit-of-reserve-of = reserve of { $value }

## What shows it: what it was

exhibit-value-said = { $value }
exhibit-value-noted = { $text }
exhibit-value-names = { $value }
exhibit-value-yes = yes
exhibit-value-nothing = nothing
exhibit-value-bytes = { $value }
exhibit-value-exact-bytes = { $value } bytes
exhibit-value-pace = { $value }
exhibit-value-iops = { $value }
exhibit-value-operations-per-second = { DIGITS($value) } operations per second
exhibit-value-time = { $value }
exhibit-value-every = every { $value }
exhibit-value-count = { $value }
exhibit-value-times = { $value } times
exhibit-value-operations = { $value } operations in total
exhibit-value-cpus = { DIGITS($value, 2) } CPUs
exhibit-value-share = { $value }
exhibit-value-spread = ±{ $value }
exhibit-value-in-flight = { $value }
exhibit-value-step = step { $value }
exhibit-value-bytes-of = { $part } of { $whole }
exhibit-value-count-of = { $part } of { $whole }
exhibit-value-bytes-in = { $bytes } in { $time }
exhibit-value-bytes-in-at = { $bytes } in { $time }: { $pace }
exhibit-value-bytes-for = { $written } for { $asked }
exhibit-value-time-in = { $time } in { $of }
exhibit-value-extents-in = { $extents } in { $range }
exhibit-value-requests-of-size = { $requests } of { $size } on average
exhibit-value-discards = { $count }, { $bytes }
exhibit-value-pace-for = { $pace } for { $time }
exhibit-value-pace-by-workers = { $pace } by { $workers }
exhibit-value-pace-of-limit = { $pace } ({ $bytes } bytes per second)
exhibit-value-read-requested = { $read }, requested { $requested }
exhibit-value-swapped-while = { $swapped }, while the run moved { $moved }
exhibit-value-known-of-capacity = { $known }, capacity { $capacity }
exhibit-value-flush-time = { $time }{ $finished ->
    [yes] {""}
   *[no] , not finished
 }
exhibit-value-celsius = { DIGITS($now, 0) } °C, limit { $limit ->
    [none] unknown
   *[other] { DIGITS($limit, 0) } °C
 }
exhibit-value-megahertz = { $now } MHz, { $before } before
exhibit-value-work = { $busy } busy, { $flushing ->
    [none] {""}
   *[other] { $flushing } flushing,{" "}
 }average queue { DIGITS($queue, 2) }
exhibit-value-zero-blocks = { $zero } of { $read }; { $zero_times ->
    [none] -
   *[other] { $zero_times }
 } and { $other_times ->
    [none] -
   *[other] { $other_times }
 }
exhibit-value-paces = { $value }
exhibit-value-latencies = { $value }
exhibit-value-both = { $first }, { $second }
exhibit-value-time-held = { $value }
exhibit-value-moved = { $value }
exhibit-value-quiet-traffic = { $read }, { $written } in { $time }
exhibit-value-single-reads = p50 { $p50 }, slowest { $slowest } of { $reads }
exhibit-value-state-change = { $before }, then { $now } by { $by }
exhibit-value-mount-of = { $kind } { $options }
exhibit-value-node = { $number }, CPUs { $cpus }
exhibit-value-system-error = { $text }{ $name ->
    [none] {""}
   *[other] {" "}({ $name })
 }
exhibit-value-write-back = write back
exhibit-value-not-counted = not counted
exhibit-value-stat-not-read = /sys/block/{ $value }/stat was not read
exhibit-value-stats-off = /sys/block/{ $value }/queue/iostats is 0: nothing is counted
exhibit-value-not-kept = not kept
exhibit-value-direct-not-supported = 0 (not supported)
exhibit-value-answered-not-refused = answered, not refused
exhibit-value-fell-too-low = fell too low
exhibit-value-no-flush = none
exhibit-value-each-write = at every write
exhibit-value-never-dropped = buffered, no cache drop
exhibit-value-not-there = no such file
exhibit-value-no-storage = not storage
exhibit-value-not-given = not given
exhibit-value-without = no { $value }
exhibit-value-partly-hidden = partly hidden
read-times = { $p50 } ({ $p25 } to { $p75 })
held-time = { $share } { $by }

## What shows it: where it was read

exhibit-source-kernel = { $value }
exhibit-source-run = the run
exhibit-source-run-clock = the run's clock
exhibit-source-run-clock-and-devices = the run's clock, /sys/block/*/stat
exhibit-source-run-series = the run's series
exhibit-source-run-counts = the run's counts
exhibit-source-run-clock-and-counts = the run's clock and counts
exhibit-source-run-phases = the phases of this run
exhibit-source-call-count = count of the calls
exhibit-source-call-results = return values of the calls
exhibit-source-completed-calls = completed calls
exhibit-source-thread-clocks = clocks of its threads
exhibit-source-balance-of-time = the balance of the phase's time
exhibit-source-balance-of-bytes = the balance of the phase's bytes
exhibit-source-cached-file = reads and writes of a cached file
exhibit-source-verification = verification
exhibit-source-plan = the plan
exhibit-source-plan-and-phases = the plan and what its phases have done
exhibit-source-plans = the plans
exhibit-source-command = the command
exhibit-source-command-or-default = the command, or the default of 512 B
exhibit-source-copy-thread = one thread copies
exhibit-source-records = the records
exhibit-source-cpu-stat = cpu.stat of the cgroup
exhibit-source-suspension = clock_gettime(): CLOCK_BOOTTIME less CLOCK_MONOTONIC
exhibit-source-undervoltage-alarm = /sys/class/hwmon/hwmon*/in0_lcrit_alarm of rpi_volt
exhibit-source-health-log = health log of { $value }
exhibit-source-writes-of-system = /sys/block/{ $value }/stat, lifetime_write_kbytes of its file systems
exhibit-source-default-of = default of { $value }
exhibit-source-direct-reads = direct reads of { $value }
exhibit-source-sampled-reads = pread() of 4 KiB each
