# English. One message for each claim: its name is that of the enum and of the variant, its arguments are the variant's fields.
# Sentences are short and active; a quantity has its unit already. Where a line breaks is of no meaning.

list-next = { $before }, { $item }
list-last = { $before } and { $item }
series-next = { $before }; { $item }
series-last = { $before }; { $item }
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
differing-value = { $at } { $first } and { $second }

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
outcome-no-data-moved = { $by } the device did, and when, is unknown.
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
place-some-first-writes = { $first } of the writes to { $path } were first writes, which allocate, the others overwrites: the figure mixes both.
place-scattered = Random writes of { $block } reached { $reached } of the sequential throughput: for each one the card erases a whole, much larger block.
place-depends-on-place = The same work at { $offsets } offsets ran at { $least } to { $most }: the rate depends on the place, or on what was done before.
place-written-during-reads = { $written } was written to { $device } during reads: access times, or another program.
place-other-node = The workers ran on the wrong NUMA node: { $device } is local to CPUs { $near }, they ran on { $ran }.
place-worn-out = { $device } reports that it is worn out: it may be slow because of that, and fail soon. Back up what is on it, and replace it.
place-unconditioned = Whether { $device } is in steady state is unknown: a fresh drive writes faster than one that has been filled twice.
place-kept-working = { $device } kept working for { $time } after the last completion: that background work is in no figure.
place-still-working = { $device } was still working { $time } after the last completion: that background work is in no figure, and slows what follows.

## Summaries

summary-nothing-found = Nothing was found against this figure.
summary-speed-of-device = This is the speed of the device: { $arrived }.
summary-arrived = { SENTENCE($arrived) }.
summary-not-peak = { $device } was busy { $busy } of the time, so this is not its peak speed.
summary-flush-ran-on = The flush was still running when the watch ended, at { $pace }.
summary-with-flush = With the flush the disk did { $pace }.
summary-part-from-disk = The part that came from the disk was read at { $pace }.
summary-all-valid = All { $results } results are valid.
summary-some-valid = { $valid } of { $results } results are valid.
summary-of = { $phase }: { $claim }
summary-of-several = { $phase } and { $others }: { $claim }
summary-not-finished = The run did not finish: { $fault }.
summary-something-left = Something is left: { $fault }.
summary-nothing-measured = Nothing could be measured: { $why }.
summary-no-result = No phase finished, so there is no result.
summary-nothing-foreseen = No problem can be seen before the run.

data-arrival-from = all bytes came from { $device }
data-arrival-at = all bytes had reached { $device } when the clock stopped
data-arrival-flushed = all bytes had reached { $device }, flushed, when the clock stopped
data-arrival-both = { $first }, and { $second }

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
