//! What threads are doing at a moment: `/proc/TID/stat` and `/proc/TID/wchan`.
//!
//! The state is the third field of `stat` (proc_pid_stat(5)). Of a thread that waits the kernel also names
//! the function in which it does (`wchan`): to those who may trace it, as a process may its own threads.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// More threads than this are not looked at in one sample, but in turn: two files each, about 10 us.
const MOST: usize = 16;

/// What the threads that did the I/O were doing whenever somebody looked: ten times a second.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadStates {
    /// How many looks there were, of all threads together.
    pub looks: u32,
    /// In how many of them a thread was in this state: `R` is on a CPU or ready for one, `D` and `S` wait,
    /// followed by the function of the kernel in which they do, where it tells (`D folio_wait_bit_common`).
    pub states: BTreeMap<String, u32>,
    /// These states in the order in which they were first seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<String>,
    /// Which of them most threads were in at each sample of the phase, by letter: `a` is the first. A point where nobody
    /// was seen; no longer than an hour.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub samples: String,
    /// Who was seen stopped (`T`) or held by a tracer (`t`), by its place among the threads, and in how many looks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stopped: BTreeMap<u32, u32>,
}

/// Samples of an hour.
const SAMPLES: usize = 36_000;

/// A letter for each state.
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";

impl ThreadStates {
    /// Looks at these threads, or in the sample of this number at as many of them as one sample can afford.
    /// `0` is none.
    pub fn look(&mut self, threads: impl ExactSizeIterator<Item = i32>, sample: usize) {
        let groups = threads.len().div_ceil(MOST).max(1);
        let group = threads.enumerate().skip(sample % groups * MOST).take(MOST);
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        for (place, thread) in group.filter(|&(_, thread)| thread > 0) {
            if let Some(state) = state(thread) {
                self.looks = self.looks.saturating_add(1);
                if ["T", "t"].contains(&state.as_str()) {
                    let looks = self.stopped.entry(place as u32).or_default();
                    *looks = looks.saturating_add(1);
                }
                match self.states.get_mut(&state) {
                    Some(seen) => *seen = seen.saturating_add(1),
                    None => drop(self.states.insert(state.clone(), 1)),
                }
                *seen.entry(state).or_default() += 1;
            }
        }
        let most = seen.iter().max_by_key(|(_, looks)| **looks);
        if let Some((state, _)) = most {
            self.note_at(state, sample);
        }
    }

    /// Notes which state it was in the sample of this number, from 1 on.
    pub fn note_at(&mut self, state: &str, sample: usize) {
        let known = self.order.iter().position(|known| known == state);
        let place = known.unwrap_or_else(|| {
            self.order.push(state.into());
            self.order.len() - 1
        });
        let Some(letter) = LETTERS.chars().nth(place) else { return };
        let missed = sample.saturating_sub(1).saturating_sub(self.samples.len());
        if self.samples.len() + missed < SAMPLES && self.samples.len() < sample {
            self.samples.extend(std::iter::repeat_n('.', missed));
            self.samples.push(letter);
        }
    }

    /// The state that most threads were in at a sample, by its number from 0 on.
    pub fn in_sample(&self, number: usize) -> Option<&str> {
        let letter = self.samples.as_bytes().get(number)?;
        let place = LETTERS.bytes().position(|known| known == *letter)?;
        self.order.get(place).map(String::as_str)
    }
}

/// What a thread is doing. `None`: it has ended, or that cannot be seen.
fn state(thread: i32) -> Option<String> {
    let letter = state_letter(thread)?;
    match letter {
        // A zombie, or dead: it has ended.
        'Z' | 'X' => None,
        'D' | 'S' => {
            let place = std::fs::read_to_string(format!("/proc/{thread}/wchan")).ok();
            let place = place.as_deref().map(str::trim).filter(|place| !["", "0"].contains(place));
            Some(place.map_or(letter.into(), |place| format!("{letter} {place}")))
        }
        _ => Some(letter.into()),
    }
}

fn state_letter(thread: i32) -> Option<char> {
    let line = std::fs::read_to_string(format!("/proc/{thread}/stat")).ok()?;
    // Its name stands in parentheses, and may hold more of them.
    line.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next())
}

/// Whether a thread of this process waits for something that may never come: a pipe, a terminal. One
/// that waits for a disk is in another state. `None`: it has ended, or that cannot be seen.
pub fn waits_idly(thread: i32) -> Option<bool> {
    state_letter(thread).map(|letter| letter == 'S')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_for_a_pipe_is_seen_waiting_there() {
        let (tell, told) = std::sync::mpsc::channel();
        let (mut pipe, mouth) = std::io::pipe().unwrap();
        let reader = std::thread::spawn(move || {
            tell.send(rustix::thread::gettid().as_raw_nonzero().get()).unwrap();
            std::io::Read::read(&mut pipe, &mut [0]).unwrap()
        });
        let thread = told.recv().unwrap();
        let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while waits_idly(thread) != Some(true) {
            assert!(std::time::Instant::now() < until, "it never waits");
        }
        let me = rustix::thread::gettid().as_raw_nonzero().get();
        assert_eq!(waits_idly(me), Some(false));
        let mut states = ThreadStates::default();
        states.look([thread, me, 0].into_iter(), 7);
        drop(mouth);
        assert_eq!(reader.join().unwrap(), 0);
        assert_eq!(states.looks, 2);
        assert_eq!(states.samples.len(), 7, "{states:?}");
        assert!(states.in_sample(6).is_some() && states.in_sample(5).is_none(), "{states:?}");
        assert_eq!(states.states.get("R"), Some(&1));
        let other = states.states.keys().find(|state| *state != "R").unwrap();
        if other == "S" {
            eprintln!("SKIP the place where it waits: this kernel does not tell");
        } else {
            assert!(other.contains("pipe_read"), "{other}");
        }
    }

    #[test]
    fn of_many_threads_each_has_its_turn() {
        let me = rustix::thread::gettid().as_raw_nonzero().get();
        let mut threads = [i32::MAX; 40];
        threads[39] = me;
        let mut states = ThreadStates::default();
        let looks = (0..6).map(|sample| {
            states.look(threads.iter().copied(), sample);
            states.looks
        });
        assert_eq!(looks.collect::<Vec<_>>(), [0, 0, 1, 1, 1, 2]);
    }

    #[test]
    fn who_has_ended_is_not_seen() {
        let mut states = ThreadStates::default();
        states.look([i32::MAX].into_iter(), 0);
        assert_eq!(states, ThreadStates::default());
    }
}
