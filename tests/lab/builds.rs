//! What `make test` builds and boots beside the tests, held up while one of them needs the machine for itself.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use super::skip::broken;

/// Stops every process of the group that `packaging/check.sh` makes, twice, for one may just have started another. They go
/// on when the input ends, and so also when the test that holds it is killed.
const HOLD: &str = r#"
for top in /sys/fs/cgroup/cpu /sys/fs/cgroup/cpu,cpuacct /sys/fs/cgroup; do
    procs=$top/assay-given-away/cgroup.procs
    [ ! -e "$procs" ] || break
done
send() { kill "$1" $(cat "$procs") ; } 2>/dev/null
send -STOP; send -STOP; echo stopped; read -r end; send -CONT
"#;

/// While it lives nothing is built or booted beside the tests.
#[must_use = "they are held up only while this lives"]
pub struct BuildsStopped(Child);

impl BuildsStopped {
    /// Stops them, where there are any.
    pub fn now() -> BuildsStopped {
        let mut shell = Command::new("sh")
            .args(["-c", HOLD])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| broken("start a shell", e));
        let mut stopped = String::new();
        let out = shell.stdout.take().expect("piped");
        BufReader::new(out)
            .read_line(&mut stopped)
            .unwrap_or_else(|e| broken("hear from a shell", e));
        BuildsStopped(shell)
    }
}

impl Drop for BuildsStopped {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}
