//! Cards that promise more than they hold: what they do with addresses beyond their real end.

use std::io;
use std::ops::Range;
use std::sync::Mutex;

use super::paced::Store;
use super::{Card, PacedFuse};

/// What a fake does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Fake {
    /// It keeps what it is given.
    #[default]
    Honest,
    /// Addresses wrap around at this size.
    Wraps(u64),
    /// What is written from there on is taken and lost.
    Loses(u64),
    /// At each multiple of so many bytes, 4 KiB or more, a bit comes back flipped.
    Flips(u64),
}

/// What a served disk does to addresses and data.
#[derive(Debug, Default)]
pub(super) struct Trick(Mutex<Fake>);

impl Trick {
    pub(super) fn play(&self, fake: Fake) {
        *self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = fake;
    }

    fn fake(&self) -> Fake {
        *self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Calls for each part of a request that stays together: where it really goes, and which part of
    /// the buffer. Lost parts go nowhere.
    fn parts(
        &self,
        offset: u64,
        len: usize,
        mut part: impl FnMut(Option<u64>, Range<usize>) -> io::Result<()>,
    ) -> io::Result<()> {
        let all = len as u64;
        match self.fake() {
            Fake::Honest | Fake::Flips(_) => part(Some(offset), 0..len),
            Fake::Loses(end) => {
                let kept = end.saturating_sub(offset).min(all) as usize;
                if kept > 0 {
                    part(Some(offset), 0..kept)?;
                }
                if kept < len { part(None, kept..len) } else { Ok(()) }
            }
            Fake::Wraps(end) => {
                let mut done = 0;
                while done < all {
                    let at = (offset + done) % end;
                    let here = (end - at).min(all - done);
                    part(Some(at), done as usize..(done + here) as usize)?;
                    done += here;
                }
                Ok(())
            }
        }
    }

    /// Reads what is really there: of what was lost zeros.
    pub(super) fn read(&self, store: &Store, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.parts(offset, out.len(), |at, part| match at {
            Some(at) => store.read(at, &mut out[part]),
            None => {
                out[part].fill(0);
                Ok(())
            }
        })?;
        self.flip(offset, out);
        Ok(())
    }

    /// Writes where it really goes to.
    pub(super) fn write(&self, store: &Store, offset: u64, data: &[u8]) -> io::Result<()> {
        self.parts(offset, data.len(), |at, part| match at {
            Some(at) => store.write(at, &data[part]),
            None => Ok(()),
        })
    }

    /// Changes what was read where it lies.
    fn flip(&self, offset: u64, data: &mut [u8]) {
        let Fake::Flips(every) = self.fake() else { return };
        let first = offset.next_multiple_of(every);
        for at in (first..offset + data.len() as u64).step_by(every as usize) {
            data[(at - offset) as usize + 100] ^= 0x10;
        }
    }
}

impl PacedFuse {
    /// From now on it is this fake.
    pub fn fake(&self, fake: Fake) {
        self.trick().play(fake);
    }
}

impl Card {
    /// From now on it is this fake; only of a card that a server slows.
    pub fn fake(&self, fake: Fake) {
        let Some(paced) = &self.paced else { panic!("nobody serves this card") };
        paced.fake(fake);
    }
}
