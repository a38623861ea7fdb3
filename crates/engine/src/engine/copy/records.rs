//! What is done to the bytes of a copy on their way: character sets, cases, changed places, lines
//! to records and back.

use std::ops::Range;

use assay_plan::plan::{CaseChange, Charset, RecordConversion};

/// Room in front of the read buffer for the byte that `swab` carries over; a page, so that the
/// reads stay aligned.
pub(super) const LEAD: usize = 4096;

/// EBCDIC codes of the ASCII characters in their order, as POSIX gives them for `conv=ebcdic`.
const EBCDIC: [u8; 256] = [
    0o000, 0o001, 0o002, 0o003, 0o067, 0o055, 0o056, 0o057, 0o026, 0o005, 0o045, 0o013, 0o014,
    0o015, 0o016, 0o017, 0o020, 0o021, 0o022, 0o023, 0o074, 0o075, 0o062, 0o046, 0o030, 0o031,
    0o077, 0o047, 0o034, 0o035, 0o036, 0o037, 0o100, 0o132, 0o177, 0o173, 0o133, 0o154, 0o120,
    0o175, 0o115, 0o135, 0o134, 0o116, 0o153, 0o140, 0o113, 0o141, 0o360, 0o361, 0o362, 0o363,
    0o364, 0o365, 0o366, 0o367, 0o370, 0o371, 0o172, 0o136, 0o114, 0o176, 0o156, 0o157, 0o174,
    0o301, 0o302, 0o303, 0o304, 0o305, 0o306, 0o307, 0o310, 0o311, 0o321, 0o322, 0o323, 0o324,
    0o325, 0o326, 0o327, 0o330, 0o331, 0o342, 0o343, 0o344, 0o345, 0o346, 0o347, 0o350, 0o351,
    0o255, 0o340, 0o275, 0o232, 0o155, 0o171, 0o201, 0o202, 0o203, 0o204, 0o205, 0o206, 0o207,
    0o210, 0o211, 0o221, 0o222, 0o223, 0o224, 0o225, 0o226, 0o227, 0o230, 0o231, 0o242, 0o243,
    0o244, 0o245, 0o246, 0o247, 0o250, 0o251, 0o300, 0o117, 0o320, 0o137, 0o007, 0o040, 0o041,
    0o042, 0o043, 0o044, 0o025, 0o006, 0o027, 0o050, 0o051, 0o052, 0o053, 0o054, 0o011, 0o012,
    0o033, 0o060, 0o061, 0o032, 0o063, 0o064, 0o065, 0o066, 0o010, 0o070, 0o071, 0o072, 0o073,
    0o004, 0o024, 0o076, 0o341, 0o101, 0o102, 0o103, 0o104, 0o105, 0o106, 0o107, 0o110, 0o111,
    0o121, 0o122, 0o123, 0o124, 0o125, 0o126, 0o127, 0o130, 0o131, 0o142, 0o143, 0o144, 0o145,
    0o146, 0o147, 0o150, 0o151, 0o160, 0o161, 0o162, 0o163, 0o164, 0o165, 0o166, 0o167, 0o170,
    0o200, 0o212, 0o213, 0o214, 0o215, 0o216, 0o217, 0o220, 0o152, 0o233, 0o234, 0o235, 0o236,
    0o237, 0o240, 0o252, 0o253, 0o254, 0o112, 0o256, 0o257, 0o260, 0o261, 0o262, 0o263, 0o264,
    0o265, 0o266, 0o267, 0o270, 0o271, 0o272, 0o273, 0o274, 0o241, 0o276, 0o277, 0o312, 0o313,
    0o314, 0o315, 0o316, 0o317, 0o332, 0o333, 0o334, 0o335, 0o336, 0o337, 0o352, 0o353, 0o354,
    0o355, 0o356, 0o357, 0o372, 0o373, 0o374, 0o375, 0o376, 0o377,
];

/// Where the table of `conv=ibm` differs: the ASCII code and what it becomes.
const IBM_DIFFERS: [(u8, u8); 5] =
    [(0o136, 0o137), (0o176, 0o241), (0o313, 0o232), (0o325, 0o255), (0o345, 0o275)];

fn ibm() -> [u8; 256] {
    let mut table = EBCDIC;
    for (ascii, code) in IBM_DIFFERS {
        table[usize::from(ascii)] = code;
    }
    table
}

fn ascii() -> [u8; 256] {
    let mut table = [0; 256];
    for (ascii, code) in (0..=255).zip(EBCDIC) {
        table[usize::from(code)] = ascii;
    }
    table
}

/// What each byte becomes; `None` when it stays.
fn translation(records: &RecordConversion) -> Option<Box<[u8; 256]>> {
    if records.charset == Charset::Keep && records.case == CaseChange::Keep {
        return None;
    }
    let mut table = Box::new([0; 256]);
    for (byte, out) in (0..=255u8).zip(table.iter_mut()) {
        // From EBCDIC first, then the case, then to EBCDIC.
        let byte =
            if records.charset == Charset::Ascii { ascii()[usize::from(byte)] } else { byte };
        let byte = match records.case {
            CaseChange::Keep => byte,
            CaseChange::Lower => byte.to_ascii_lowercase(),
            CaseChange::Upper => byte.to_ascii_uppercase(),
        };
        *out = match records.charset {
            Charset::Keep | Charset::Ascii => byte,
            Charset::Ebcdic => EBCDIC[usize::from(byte)],
            Charset::Ibm => ibm()[usize::from(byte)],
        };
    }
    Some(table)
}

/// Bytes that become others or change places; a last odd one waits for the next block.
#[derive(Debug)]
pub(super) struct CharsetMap {
    table: Option<Box<[u8; 256]>>,
    swab: bool,
    /// What waits.
    pub(super) carried: Option<u8>,
}

impl CharsetMap {
    pub(super) fn new(records: &RecordConversion) -> Self {
        Self { table: translation(records), swab: records.swab, carried: None }
    }

    /// Converts the block of `len` bytes behind [`LEAD`]: where in the buffer the outcome lies.
    pub(super) fn convert(&mut self, buffer: &mut [u8], len: usize) -> Range<usize> {
        if let Some(table) = &self.table {
            for byte in &mut buffer[LEAD..LEAD + len] {
                *byte = table[usize::from(*byte)];
            }
        }
        let mut all = LEAD..LEAD + len;
        if self.swab {
            if let Some(byte) = self.carried.take() {
                all.start -= 1;
                buffer[all.start] = byte;
            }
            if all.len() % 2 == 1 {
                all.end -= 1;
                self.carried = Some(buffer[all.end]);
            }
            swap(&mut buffer[all.clone()]);
        }
        all
    }
}

/// Lines to records, records to lines; what is between two blocks is kept here.
#[derive(Debug)]
pub(super) struct RecordConverter {
    shape: RecordShape,
    newline: u8,
    blank: u8,
    /// Characters of the line, or of the record, so far.
    column: u64,
    /// Blanks that are only written when something follows them in their record.
    pending: u64,
    /// Lines that were cut.
    pub(super) truncated: u64,
}

#[derive(Clone, Copy, Debug)]
enum RecordShape {
    Block(u64),
    Unblock(u64),
}

impl RecordConverter {
    /// The shaper that `records` asks for, if any.
    pub(super) fn new(records: &RecordConversion) -> Option<Self> {
        let shape = match (records.block, records.unblock) {
            (Some(length), _) => RecordShape::Block(length),
            (None, Some(length)) => RecordShape::Unblock(length),
            (None, None) => return None,
        };
        let (newline, blank) = match records.charset {
            Charset::Keep | Charset::Ascii => (b'\n', b' '),
            Charset::Ebcdic => (EBCDIC[usize::from(b'\n')], EBCDIC[usize::from(b' ')]),
            Charset::Ibm => (ibm()[usize::from(b'\n')], ibm()[usize::from(b' ')]),
        };
        Some(Self { shape, newline, blank, column: 0, pending: 0, truncated: 0 })
    }

    /// Takes `bytes` and hands what they become to `put`, in runs.
    pub(super) fn shape<E>(
        &mut self,
        bytes: &[u8],
        put: &mut impl FnMut(OutputRun<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        match self.shape {
            RecordShape::Block(length) => self.block(length, bytes, put),
            RecordShape::Unblock(length) => self.unblock(length, bytes, put),
        }
    }

    fn block<E>(
        &mut self,
        length: u64,
        bytes: &[u8],
        put: &mut impl FnMut(OutputRun<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let line = rest.iter().position(|&byte| byte == self.newline);
            let text = &rest[..line.unwrap_or(rest.len())];
            let room = length.saturating_sub(self.column);
            let fits = usize::try_from(room).unwrap_or(usize::MAX).min(text.len());
            put(OutputRun::Bytes(&text[..fits]))?;
            let before = self.column;
            self.column += text.len() as u64;
            if before <= length && self.column > length {
                self.truncated += 1;
            }
            let Some(end) = line else { break };
            self.pad(length, put)?;
            self.column = 0;
            rest = &rest[end + 1..];
        }
        Ok(())
    }

    fn pad<E>(
        &self,
        length: u64,
        put: &mut impl FnMut(OutputRun<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.column < length {
            put(OutputRun::Fill(self.blank, length - self.column))?;
        }
        Ok(())
    }

    fn unblock<E>(
        &mut self,
        length: u64,
        bytes: &[u8],
        put: &mut impl FnMut(OutputRun<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.column >= length {
                self.column = 0;
                self.pending = 0;
                put(OutputRun::Bytes(&[self.newline]))?;
            }
            let room = usize::try_from(length - self.column).unwrap_or(usize::MAX);
            let (part, after) = rest.split_at(room.min(rest.len()));
            rest = after;
            self.column += part.len() as u64;
            match part.iter().rposition(|&byte| byte != self.blank) {
                None => self.pending += part.len() as u64,
                Some(last) => {
                    put(OutputRun::Fill(self.blank, self.pending))?;
                    put(OutputRun::Bytes(&part[..=last]))?;
                    self.pending = (part.len() - last - 1) as u64;
                }
            }
        }
        Ok(())
    }

    /// Ends the last record or line.
    pub(super) fn finish<E>(
        &mut self,
        put: &mut impl FnMut(OutputRun<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        match self.shape {
            _ if self.column == 0 => Ok(()),
            RecordShape::Block(length) => self.pad(length, put),
            RecordShape::Unblock(_) => put(OutputRun::Bytes(&[self.newline])),
        }
    }
}

/// A piece of output.
#[derive(Clone, Copy, Debug)]
pub(super) enum OutputRun<'a> {
    /// These bytes.
    Bytes(&'a [u8]),
    /// One byte, so many times.
    Fill(u8, u64),
}

/// Makes neighbours change places.
pub(super) fn swap(bytes: &mut [u8]) {
    for pair in bytes.chunks_exact_mut(2) {
        pair.swap(0, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shaped(records: RecordConversion, pieces: &[&[u8]]) -> (Vec<u8>, u64) {
        let mut converter = RecordConverter::new(&records).expect("shapes");
        let mut out = Vec::new();
        let mut put = |run: OutputRun<'_>| {
            match run {
                OutputRun::Bytes(bytes) => out.extend_from_slice(bytes),
                OutputRun::Fill(byte, times) => out.extend((0..times).map(|_| byte)),
            }
            Ok::<(), ()>(())
        };
        for piece in pieces {
            converter.shape(piece, &mut put).expect("put");
        }
        converter.finish(&mut put).expect("put");
        (out, converter.truncated)
    }

    #[test]
    fn tables_are_permutations() {
        for table in [EBCDIC, ascii()] {
            let mut seen = [false; 256];
            table.iter().for_each(|&code| seen[usize::from(code)] = true);
            assert!(seen.iter().all(|&seen| seen));
        }
    }

    #[test]
    fn lines_become_records_and_records_lines() {
        let block = RecordConversion { block: Some(4), ..RecordConversion::default() };
        assert_eq!(
            shaped(block, &[b"ab\nabc", b"defg\n", b"\nx"]),
            (b"ab  abcd    x   ".into(), 1)
        );
        let unblock = RecordConversion { unblock: Some(4), ..RecordConversion::default() };
        assert_eq!(shaped(unblock, &[b"ab  a", b" b ", b"    x"]), (b"ab\na b\n\nx\n".into(), 0));
    }

    #[test]
    fn an_odd_byte_stays() {
        let mut bytes = *b"abcde";
        swap(&mut bytes);
        assert_eq!(&bytes, b"badce");
    }
}
