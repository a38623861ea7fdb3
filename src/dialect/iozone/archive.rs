//! The parts of an archive that has just been made in memory: of a workbook, whose charts are replaced.
//!
//! The crate that writes archives also reads those of strangers, encrypted, split or damaged ones among them, in 40 kB of
//! code. Here are the two kinds of headers that ours have (PKWARE's APPNOTE, 4.3.7, 4.3.12 and 4.3.16).

use std::io::{self, Read as _};

use flate2::read::DeflateDecoder;

/// One file of an archive.
#[derive(Debug, PartialEq)]
pub struct ArchivePart {
    pub name: String,
    pub content: Vec<u8>,
}

/// All parts, in the order of the directory.
///
/// # Errors
/// It is no archive, or one of another kind.
pub fn parts(archive: &[u8]) -> io::Result<Vec<ArchivePart>> {
    let end = Header { archive, at: archive.len().checked_sub(22).ok_or_else(damaged)? };
    end.signed(b"PK\x05\x06")?;
    let mut entry = Header { archive, at: end.long(16)? };
    let mut parts = Vec::new();
    for _ in 0..end.short(10)? {
        entry.signed(b"PK\x01\x02")?;
        let [name, extra, comment] = [entry.short(28)?, entry.short(30)?, entry.short(32)?];
        let local = Header { archive, at: entry.long(42)? };
        local.signed(b"PK\x03\x04")?;
        let packed = local.bytes(30 + local.short(26)? + local.short(28)?, entry.long(20)?)?;
        let mut content = Vec::new();
        match entry.short(10)? {
            0 => content.extend_from_slice(packed),
            8 => drop(DeflateDecoder::new(packed).read_to_end(&mut content)?),
            _ => return Err(damaged()),
        }
        let name = String::from_utf8_lossy(entry.bytes(46, name)?).into_owned();
        parts.push(ArchivePart { name, content });
        entry.at += 46 + entry.short(28)? + extra + comment;
    }
    Ok(parts)
}

/// A place of the archive at which a header stands.
struct Header<'a> {
    archive: &'a [u8],
    at: usize,
}

impl<'a> Header<'a> {
    fn bytes(&self, from: usize, len: usize) -> io::Result<&'a [u8]> {
        let from = self.at.checked_add(from).ok_or_else(damaged)?;
        let to = from.checked_add(len).ok_or_else(damaged)?;
        self.archive.get(from..to).ok_or_else(damaged)
    }

    fn signed(&self, signature: &[u8; 4]) -> io::Result<()> {
        if self.bytes(0, 4)? == signature { Ok(()) } else { Err(damaged()) }
    }

    /// A number of two bytes.
    fn short(&self, from: usize) -> io::Result<usize> {
        let bytes = self.bytes(from, 2)?;
        Ok(usize::from(u16::from_le_bytes([bytes[0], bytes[1]])))
    }

    /// A number of four bytes.
    fn long(&self, from: usize) -> io::Result<usize> {
        Ok(self.short(from)? | self.short(from + 2)? << 16)
    }
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "no archive as workbooks are")
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use zip::write::SimpleFileOptions;
    use zip::{CompressionMethod, ZipWriter};

    use super::*;

    /// As workbooks are: lengths stand in the directory alone.
    fn made() -> Vec<u8> {
        let mut writer = ZipWriter::new_stream(Cursor::new(Vec::new()));
        let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        for (name, options) in [("a/b.xml", SimpleFileOptions::default()), ("c", stored)] {
            writer.start_file(name, options).expect("begun");
            writer.write_all(name.repeat(99).as_bytes()).expect("written");
        }
        writer.finish().expect("finished").into_inner().into_inner()
    }

    #[test]
    fn each_part_is_what_was_put_in() {
        let part = |name: &str| ArchivePart { name: name.into(), content: name.repeat(99).into() };
        assert_eq!(parts(&made()).expect("an archive"), ["a/b.xml", "c"].map(part));
    }

    #[test]
    fn what_is_damaged_is_refused_and_never_panics() {
        let whole = made();
        for len in 0..whole.len() {
            assert!(parts(&whole[..len]).is_err(), "{len}");
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0xff;
            let _ = parts(&changed);
        }
    }
}
