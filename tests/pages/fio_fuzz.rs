//! Words of fio that nobody wrote: the corpus, cut up and put together anew. No words are too much, and a plan that is
//! made of some is the same after it was written down and read.
//!
//! `ASSAY_FUZZ=3600` goes on for an hour, from the seed `ASSAY_FUZZ_SEED`; without it a few hundred are tried. What is
//! being tried stands in the file that `ASSAY_FUZZ_LAST` names: an input that eats all memory leaves no other trace.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use assay::dialect::fio::{self, FioPlan};
use assay_plan::plan::Plan;

use super::fio_share::{LIST, files, in_world, lines, planned, planned_with, state, state_of};

/// Numbers that follow from a seed (splitmix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    fn of<'a, T: ?Sized>(&mut self, among: &[&'a T]) -> &'a T {
        among[self.below(among.len())]
    }
}

/// Values that parsers trip over.
const VALUES: &[&str] = &[
    "0",
    "1",
    "-1",
    "100",
    "101",
    "4k",
    "1t",
    "18446744073709551615",
    "9223372036854775808",
    "1e9",
    "4k-64k",
    "64k-4k",
    ":",
    ",",
    ",,",
    "4k,,8k",
    "/",
    "4k/50:8k/50",
    "0x",
    "0xffffffffffffffff",
    "50%",
    "100%",
    "%",
    "1:2:3:4:5",
    "zipf:1.2",
    "pareto:0.9",
    "normal:50",
    "zoned:60/10:30/20",
    "zoned_abs:50/1m:50/1g",
    "random:0",
    "gauss:1",
    "(2*8k)",
    "(1/0)",
    "$pagesize",
    "$ncpus*0",
    "${SIZE}",
    "${",
    "\"",
    "'",
    "\\",
    "1s",
    "1us",
    "1d",
    "9999999999d",
    "write:4k",
    "\u{e9}",
    "rw",
    "randrw:4",
    "trimwrite",
    "read:1m",
    "all",
    "iops:10%",
    "lat:5us",
    "0-7",
    "0,2-1",
    "libaio",
    "io_uring",
    "mmap",
    "cpuio",
    "filestat",
    "null",
    "splice",
    "falloc",
    "posixaio",
];

/// Text with one thing changed, taken out, doubled or put in.
fn changed(text: &str, words: &[&str], chance: &mut Chance) -> String {
    let mut tokens: Vec<String> =
        text.split_inclusive([' ', '\n', '=', ':', ',', '/']).map(String::from).collect();
    let changes = if chance.below(3) == 0 { 1 + chance.below(4) } else { 1 };
    for _ in 0..changes {
        let at = chance.below(tokens.len());
        match chance.below(7) {
            0 if tokens.len() > 1 => drop(tokens.remove(at)),
            1 => tokens.insert(at, format!(" {} ", chance.of(words))),
            2 => tokens.push(format!("\n{}\n", chance.of(words))),
            3 => {
                let end = tokens.get(at).and_then(|token| token.chars().last()).unwrap_or(' ');
                let value = chance.of(VALUES);
                let kept = !end.is_alphanumeric();
                let token = if kept { format!("{value}{end}") } else { value.to_string() };
                if let Some(old) = tokens.get_mut(at) {
                    *old = token;
                }
            }
            4 => {
                let copy = tokens.get(chance.below(tokens.len())).cloned().unwrap_or_default();
                tokens.insert(at, copy);
            }
            _ => {
                let Some(token) = tokens.get_mut(at) else { continue };
                let mut signs: Vec<char> = token.chars().collect();
                let sign = char::from(b' ' + (chance.next() % 95) as u8);
                let place = chance.below(signs.len() + 1);
                match chance.below(3) {
                    0 => signs.insert(place, sign),
                    1 if place < signs.len() => signs[place] = sign,
                    _ if place < signs.len() => drop(signs.remove(place)),
                    _ => {}
                }
                *token = signs.into_iter().collect();
            }
        }
    }
    tokens.concat()
}

/// Reads and plans words; whether there was a plan.
fn tried(words: &[String], files: &BTreeMap<String, Vec<u8>>) -> bool {
    let Ok(command) = in_world(files, |world| {
        let command = fio::read(words, world);
        if let Ok(command) = &command {
            let _ = fio::corrections(words, command, world);
        }
        command
    }) else {
        return false;
    };
    // As many clones as a machine would not start, and no parser minds.
    let clones: u64 = command.jobs.iter().map(|job| u64::from(job.schedule.numjobs)).sum();
    if clones > 4096 || command.answer.is_some() {
        return false;
    }
    let Ok(planned) = planned(&command) else { return false };
    survives(planned);
    true
}

/// A plan is the same after it was written down and read.
fn survives(planned: FioPlan) {
    let text = serde_json::to_string(&planned.plan).expect("a document");
    let again: Plan = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(again, planned.plan);
    assert_eq!(serde_json::to_string(&again).expect("a document"), text);
    let _ = planned.as_version(33);
}

/// What is asked for by the environment: so many seconds instead of a number of inputs, and the seed.
fn asked() -> (Option<u64>, Chance) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    (number("ASSAY_FUZZ"), Chance(number("ASSAY_FUZZ_SEED").unwrap_or(1)))
}

#[test]
fn no_words_of_fio_are_too_much_and_a_plan_survives_its_document() {
    let (seconds, mut chance) = asked();
    let last = std::env::var_os("ASSAY_FUZZ_LAST");
    let (files, lines) = (files(), lines());
    let texts: Vec<String> =
        files.values().map(|text| String::from_utf8_lossy(text).into_owned()).collect();
    let jobs: Vec<&str> = texts.iter().map(String::as_str).collect();
    let in_lines = lines.iter().flat_map(|line| line.split(' '));
    let in_jobs = jobs.iter().flat_map(|text| text.lines());
    let known: Vec<String> = fio::all_options().map(|option| format!("{}=", option.name)).collect();
    let words: Vec<&str> =
        in_lines.chain(in_jobs).chain(known.iter().map(String::as_str)).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let started = Instant::now();
    let (mut all, mut plans) = (0_u64, 0_u64);
    loop {
        let over = match seconds {
            Some(seconds) => started.elapsed() >= Duration::from_secs(seconds),
            None => all >= 400,
        };
        if over {
            break;
        }
        let in_file = chance.below(2) == 0;
        let (typed, files) = match in_file {
            true => {
                let text = changed(chance.of(&jobs), &words, &mut chance);
                let mut files = files.clone();
                files.insert("fuzzed.fio".into(), text.into_bytes());
                (vec!["fuzzed.fio".to_string()], files)
            }
            false => {
                let line = changed(chance.of(&lines), &words, &mut chance);
                (line.split_whitespace().map(String::from).collect(), files.clone())
            }
        };
        let text = || match files.get("fuzzed.fio") {
            Some(text) => String::from_utf8_lossy(text).into_owned(),
            None => typed.join(" "),
        };
        if let Some(path) = &last {
            std::fs::write(path, format!("# after {all}, {plans} plans\n{}", text()))
                .expect("a file");
        }
        let since = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| tried(&typed, &files)));
        let planned = outcome.unwrap_or_else(|_| panic!("after {all}: {}", text()));
        let took = since.elapsed();
        assert!(took < Duration::from_secs(20), "{took:?}: {}", text());
        all += 1;
        plans += u64::from(planned);
    }
    println!("{all} tried, {plans} plans");
    assert!(plans > all / 20, "{plans} plans of {all}");
}

/// Bytes with some of them changed, taken out, doubled or put in.
fn spoilt(bytes: &[u8], chance: &mut Chance) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..1 + chance.below(4) {
        let at = chance.below(bytes.len());
        let end = (at + 1 + chance.below(48)).min(bytes.len());
        match chance.below(6) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
            3 => bytes[at..end].fill([0, 0xff][chance.below(2)]),
            _ if at < end => bytes[at] = chance.next() as u8,
            _ => bytes.push(chance.next() as u8),
        }
    }
    bytes
}

/// A trace of blktrace: reads, writes and trims that are queued and answered, and a message.
fn trace(chance: &mut Chance) -> Vec<u8> {
    let mut trace = Vec::new();
    for number in 0..1 + chance.below(12) as u64 {
        let direction = [1 << 16, 1 << 17, 1 << 29 | 1 << 17, 1 << 18 | 1 << 17, 1 << 26];
        let action = 1 << (chance.below(4)) | direction[chance.below(5)];
        let more = [0, 0, 0, 5][chance.below(4)];
        trace.extend((0x6561_7407_u32).to_le_bytes());
        trace.extend((number as u32).to_le_bytes());
        trace.extend((number * 1000).to_le_bytes());
        trace.extend((number * 8).to_le_bytes());
        trace.extend([4096_u32, action, 7, 8 << 20, 0].into_iter().flat_map(u32::to_le_bytes));
        trace.extend([0_u16, more].into_iter().flat_map(u16::to_le_bytes));
        trace.extend(std::iter::repeat_n(b'x', more.into()));
    }
    trace
}

/// What reads a list of I/Os, a trace or a file of state.
const READERS: [&str; 5] = [
    "--name=l --read_iolog=fuzzed.log",
    "--name=l --read_iolog=fuzzed.log --replay_redirect=/dev/loop7 --replay_no_stall=1",
    "--name=l --read_iolog=fuzzed.log --replay_scale=2 --replay_align=4k --replay_time_scale=50",
    "--name=l --read_iolog=fuzzed.log --replay_skip=read,sync --replay_redirect=/dev/loop7",
    "--name=v --rw=read --bs=4k --size=256k --verify=crc32c --verify_state_load=1",
];

#[test]
fn no_list_trace_or_state_is_too_much() {
    const SECOND: &[u8] = b"fio version 2 iolog\nf add\nf open\nf write 0 4096\nf wait 10 0\nf sync 0 0\nf trim 4096 8192\nf close\n";
    let (seconds, mut chance) = asked();
    let commands = READERS.map(|line| {
        let words: Vec<String> = line.split(' ').map(String::from).collect();
        in_world(&BTreeMap::new(), |world| fio::read(&words, world)).expect(line)
    });
    let body = state().split_off(24);
    let started = Instant::now();
    let (mut all, mut plans) = (0_u64, 0_u64);
    while seconds.map_or(all < 4000, |seconds| started.elapsed() < Duration::from_secs(seconds)) {
        let list = match chance.below(3) {
            0 => LIST.to_vec(),
            1 => SECOND.to_vec(),
            _ => trace(&mut chance),
        };
        let list = if chance.below(8) == 0 { list } else { spoilt(&list, &mut chance) };
        let state = match chance.below(2) {
            0 => spoilt(&state(), &mut chance),
            _ => state_of(spoilt(&body, &mut chance)),
        };
        let command = &commands[chance.below(commands.len())];
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let Ok(planned) = planned_with(command, &list, &state) else { return false };
            survives(planned);
            true
        }));
        let told = || format!("after {all}: {list:x?}, {state:x?}");
        plans += u64::from(outcome.unwrap_or_else(|_| panic!("{}", told())));
        all += 1;
    }
    println!("{all} tried, {plans} plans");
    assert!(plans > all / 20, "{plans} plans of {all}");
}
