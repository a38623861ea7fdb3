//! Our own I/O accounting: `/proc/self/io`.

use super::OwnIo;
use super::memory::value;
use assay_plan::unit::{Bytes, Ops};

/// Parses the whole file; a missing line is an error, since the file is always complete.
pub fn parse(text: &str) -> Result<OwnIo, String> {
    let number =
        |key: &str| value(text, key, ':').ok_or_else(|| format!("/proc/self/io: no {key}"));
    Ok(OwnIo {
        read_bytes: Bytes(number("read_bytes")?),
        write_bytes: Bytes(number("write_bytes")?),
        cancelled_write_bytes: Bytes(number("cancelled_write_bytes")?),
        read_calls: Ops(number("syscr")?),
        write_calls: Ops(number("syscw")?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const IO: &str = "rchar: 4292\nwchar: 0\nsyscr: 13\nsyscw: 7\nread_bytes: 8192\nwrite_bytes: 4096\ncancelled_write_bytes: 512\n";

    #[test]
    fn all_lines_are_read() {
        let own = parse(IO).unwrap();
        assert_eq!((own.read_bytes, own.write_bytes), (Bytes(8192), Bytes(4096)));
        assert_eq!((own.read_calls, own.write_calls), (Ops(13), Ops(7)));
        assert_eq!(own.cancelled_write_bytes, Bytes(512));
    }

    #[test]
    fn an_empty_file_is_no_zero() {
        assert_eq!(parse(""), Err("/proc/self/io: no read_bytes".into()));
    }
}
