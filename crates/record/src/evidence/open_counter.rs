//! A text file of the kernel that stays open and is read again and again.

use std::fs::File;
use std::os::unix::fs::FileExt;

use super::SysRoot;
use super::sys_root::why;

/// What is shorter than this, and ends with its line, is all that there is.
const WHOLE: usize = 2048;

/// A kernel text file that stays open, or why it could not be opened.
pub(super) struct OpenCounter {
    /// Its path, for what is said of it.
    pub name: String,
    /// The open file.
    pub file: Result<File, String>,
    /// The key of the last line that is wanted. Pieces after it are not read: for each the kernel adds up all of
    /// `/proc/vmstat` once more.
    pub last: Option<&'static str>,
}

impl OpenCounter {
    pub fn open(sys_root: &SysRoot, path: &str) -> Self {
        let file = File::open(sys_root.at(path)).map_err(|error| why(path, &error));
        Self { name: path.to_string(), file, last: None }
    }

    /// The text, whole or through its last wanted line, read into `buffer` anew.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn text<'b>(&self, buffer: &'b mut Vec<u8>) -> Result<&'b str, String> {
        let file = self.file.as_ref().map_err(Clone::clone)?;
        let mut end = 0;
        loop {
            if buffer.len() < end + 4096 {
                buffer.resize(end + 16384, 0);
            }
            match file.read_at(&mut buffer[end..], end as u64) {
                Ok(0) => break,
                // The kernel gives them in one piece, or in pieces of nearly a page.
                Ok(more) if more < WHOLE && buffer[end + more - 1] == b'\n' => {
                    end += more;
                    break;
                }
                Ok(more) => {
                    end += more;
                    if self.last.is_some_and(|last| has_line(&buffer[..end], last)) {
                        break;
                    }
                }
                Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
                Err(error) => return Err(why(&self.name, &error)),
            }
        }
        std::str::from_utf8(&buffer[..end]).map_err(|_| format!("{}: not a text", self.name))
    }
}

/// Whether a line with this key is there to its end.
fn has_line(text: &[u8], key: &str) -> bool {
    let mut lines = text.split_inclusive(|&byte| byte == b'\n');
    lines.any(|line| {
        let rest = line.strip_prefix(key.as_bytes());
        rest.is_some_and(|rest| rest.starts_with(b" ") && rest.ends_with(b"\n"))
    })
}
