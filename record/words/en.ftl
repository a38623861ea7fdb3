# English. One message for each claim: its name is that of the enum and of the variant, its arguments are the variant's fields.
# Sentences are short and active; a quantity has its unit already. Where a line breaks is of no meaning.

list-next = { $before }, { $item }
list-last = { $before } and { $item }

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
