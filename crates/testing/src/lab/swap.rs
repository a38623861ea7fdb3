//! A machine short of memory: somewhere to swap to, and a program that needs it.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use super::Skip;
use super::group::{Room, command_in};
use super::skip::{broken, run};

/// A swap area in use, as long as it lives.
pub struct Swap {
    swapoff: PathBuf,
    device: PathBuf,
}

impl Swap {
    /// Makes one of a device and uses it.
    pub fn on(mkswap: &Path, swapon: &Path, device: &Path) -> Result<Swap, Skip> {
        let device = device.to_owned();
        let name = device.display().to_string();
        run(mkswap, &[&name]).unwrap_or_else(|e| broken("make a swap area", e));
        run(swapon, &[&name]).map_err(|e| Skip::Machine(format!("no swap here: {e}")))?;
        Ok(Swap { swapoff: swapon.with_file_name("swapoff"), device })
    }
}

impl Drop for Swap {
    fn drop(&mut self) {
        if let Err(error) = run(&self.swapoff, &[&self.device]) {
            super::den::complain(&format!(
                "{} is still swapped to: {error}",
                self.device.display()
            ));
        }
    }
}

/// A program that touches its memory again and again.
pub struct Hungry(Child);

impl Hungry {
    /// Within rooms that give it less than it wants.
    pub fn start(rooms: &[Room], bytes: u64) -> Hungry {
        // The shell keeps its text in memory, and copies all of it each time it adds to it.
        let script =
            format!("x=$(head -c {bytes} /dev/zero | tr '\\0' x); while :; do y=$x; x=$y; done");
        let mut command = command_in(rooms, "sh");
        command.args(["-c", &script]).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().unwrap_or_else(|e| broken("start a hungry program", e));
        std::thread::sleep(std::time::Duration::from_millis(500));
        Hungry(child)
    }
}

impl Drop for Hungry {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
