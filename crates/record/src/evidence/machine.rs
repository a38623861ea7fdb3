//! The machine itself: kernel, processor, memory, clock, and whether it is a virtual one.

use serde::{Deserialize, Serialize};

use super::Reading;
use super::cpu_caches::CpuCache;
use super::memory::value;
use super::nodes::NumaNode;
use super::sys_root::SysRoot;
use assay_engine::sys::clock;
use assay_plan::unit::{Bytes, KIB, Nanos};

/// The machine, once per record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Machine {
    /// Host name.
    pub host: String,
    /// Kernel release: `6.18.44`.
    pub kernel: String,
    /// `x86_64`, `aarch64`, `armv7l`.
    pub architecture: String,
    /// CPU model, if it names itself.
    pub cpu: Reading<String>,
    /// CPUs this process may use.
    pub cpus: u32,
    /// The caches of its CPUs that hold data, from the nearest on, where the kernel tells.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub caches: Vec<CpuCache>,
    /// Its nodes, where it has several.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub nodes: Vec<NumaNode>,
    /// Memory of the machine.
    pub memory: Reading<Bytes>,
    /// Memory page size in bytes.
    pub page: Bytes,
    /// A hypervisor was noticed (CPU flag, DMI, virtio): a host cache cannot be excluded.
    pub virtual_machine: Option<bool>,
    /// Board or product name (DMI or device tree); empty when unknown.
    pub product: String,
    pub clock: Clock,
    /// From waking a thread that sleeps until it runs, the median of a few, ns: on an idle processor, after the first
    /// phase whose balance of time asks for it. Absent where none did, or it could not be measured.
    #[serde(rename = "wake_up_ns", skip_serializing_if = "Option::is_none", default)]
    pub wake_up: Option<Nanos>,
    /// Whether this process runs as root.
    pub root: bool,
}

/// The clock that times everything.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Clock {
    /// `tsc`, `kvm-clock`, `arch_sys_counter`, `hpet`.
    pub source: Reading<String>,
    /// Smallest step seen, nanoseconds.
    pub step: Nanos,
    /// Cost of one reading, nanoseconds.
    pub cost: Nanos,
}

impl SysRoot {
    /// Memory that can be had without swapping.
    pub fn free_memory(&self) -> Reading<Bytes> {
        self.text("/proc/meminfo")
            .and_then(|text| super::memory::parse(&text, None, 1))
            .map(|memory| memory.available)
            .into()
    }

    /// The machine, read once per record. Measures the clock, which takes a few milliseconds.
    pub fn machine(&self) -> Machine {
        let name = rustix::system::uname();
        let said = |text: &std::ffi::CStr| assay_plan::name::word(text.to_bytes());
        let cpuinfo = self.text("/proc/cpuinfo");
        let product = self.product();
        let (step, cost) = clock::measure();
        let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
        Machine {
            host: self.line("/proc/sys/kernel/hostname").unwrap_or_else(|| said(name.nodename())),
            kernel: self.line("/proc/sys/kernel/osrelease").unwrap_or_else(|| said(name.release())),
            architecture: said(name.machine()),
            cpu: match &cpuinfo {
                Ok(text) => processor(text)
                    .ok_or_else(|| "/proc/cpuinfo: the processor does not name itself".to_string())
                    .into(),
                Err(why) => Reading::Unseen(why.clone()),
            },
            cpus: cpus(),
            caches: self.cpu_caches(),
            nodes: self.nodes(),
            memory: self.installed_memory(),
            page: Bytes(rustix::param::page_size() as u64),
            virtual_machine: self.virtual_machine(cpuinfo.as_deref().ok(), &product),
            product,
            clock: Clock {
                source: self.text(source).map(|t| t.trim().to_string()).into(),
                step,
                cost,
            },
            wake_up: None,
            root: rustix::process::geteuid().is_root(),
        }
    }

    fn installed_memory(&self) -> Reading<Bytes> {
        let total = self.text("/proc/meminfo").and_then(|text| {
            let total = value(&text, "MemTotal", ':');
            total.ok_or_else(|| "/proc/meminfo: no MemTotal".to_string())
        });
        total.map(|kib| Bytes(kib.saturating_mul(KIB))).into()
    }

    /// Memory that a run can have: the machine's, or less where a control group says so; `None` where neither
    /// can be read.
    pub fn memory_for_runs(&self) -> Option<Bytes> {
        let machine = self.installed_memory().seen().copied();
        let group = self.limits(&[]).seen().and_then(|limits| limits.memory);
        machine.into_iter().chain(group).min()
    }

    /// Board or product: DMI on PCs and servers, the device tree on boards.
    fn product(&self) -> String {
        let dmi = |name: &str| self.line(format!("/sys/class/dmi/id/{name}")).unwrap_or_default();
        let both = format!("{} {}", dmi("sys_vendor"), dmi("product_name"));
        match both.trim() {
            "" => self.line("/proc/device-tree/model").unwrap_or_default(),
            product => product.to_string(),
        }
    }

    /// Signs of a hypervisor; `None` when nothing speaks either way.
    fn virtual_machine(&self, cpuinfo: Option<&str>, product: &str) -> Option<bool> {
        const MAKERS: [&str; 11] = [
            "QEMU",
            "KVM",
            "VMware",
            "VirtualBox",
            "Xen",
            "Virtual Machine",
            "OpenStack",
            "Bochs",
            "Parallels",
            "BHYVE",
            "Google Compute Engine",
        ];
        let flags = cpuinfo.and_then(flags);
        let sign = flags.is_some_and(|f| f.split_ascii_whitespace().any(|f| f == "hypervisor"))
            || self.has("/sys/hypervisor/type")
            || self.has("/proc/device-tree/hypervisor")
            || MAKERS.iter().any(|maker| product.contains(maker))
            || !self.names("/sys/bus/virtio/devices").is_empty();
        match (sign, flags) {
            (true, _) => Some(true),
            // An x86 processor would have said so.
            (false, Some(_)) => Some(false),
            (false, None) if !product.is_empty() => Some(false),
            (false, None) => None,
        }
    }
}

/// CPUs that this process may run on.
fn cpus() -> u32 {
    match rustix::thread::sched_getaffinity(None) {
        Ok(set) => set.count(),
        // More CPUs than the call has room for.
        Err(_) => std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
    }
}

/// The flags of an x86 processor.
fn flags(cpuinfo: &str) -> Option<&str> {
    key(cpuinfo, "flags")
}

/// The value of the first line `key : value`.
fn key<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key && !value.trim().is_empty()).then_some(value.trim())
    })
}

/// The processor by its own name, or by the part number of ARM.
fn processor(cpuinfo: &str) -> Option<String> {
    let named = key(cpuinfo, "model name").or_else(|| key(cpuinfo, "cpu model"));
    if let Some(name) = named {
        return Some(name.to_string());
    }
    let maker = key(cpuinfo, "CPU implementer")?;
    let part = key(cpuinfo, "CPU part")?;
    let name = match (maker, part) {
        ("0x41", "0xb76") => "ARM1176",
        ("0x41", "0xc07") => "Cortex-A7",
        ("0x41", "0xc08") => "Cortex-A8",
        ("0x41", "0xc09") => "Cortex-A9",
        ("0x41", "0xc0f") => "Cortex-A15",
        ("0x41", "0xd03") => "Cortex-A53",
        ("0x41", "0xd04") => "Cortex-A35",
        ("0x41", "0xd05") => "Cortex-A55",
        ("0x41", "0xd07") => "Cortex-A57",
        ("0x41", "0xd08") => "Cortex-A72",
        ("0x41", "0xd09") => "Cortex-A73",
        ("0x41", "0xd0a") => "Cortex-A75",
        ("0x41", "0xd0b") => "Cortex-A76",
        ("0x41", "0xd0c") => "Neoverse-N1",
        ("0x41", "0xd40") => "Neoverse-V1",
        ("0x41", "0xd49") => "Neoverse-N2",
        _ => return Some(format!("ARM implementer {maker} part {part}")),
    };
    Some(name.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::fake::FakeSysRoot;
    use super::*;

    #[test]
    fn processors_name_themselves_or_their_part() {
        let x86 =
            "processor\t: 0\nmodel name\t: Fast CPU @ 2.5GHz\nflags\t\t: fpu vme hypervisor\n";
        assert_eq!(processor(x86).as_deref(), Some("Fast CPU @ 2.5GHz"));
        assert_eq!(flags(x86), Some("fpu vme hypervisor"));
        let arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n";
        assert_eq!(processor(arm).as_deref(), Some("Cortex-A72"));
        assert_eq!(
            processor("CPU implementer : 0x51\nCPU part : 0x001\n").as_deref(),
            Some("ARM implementer 0x51 part 0x001")
        );
        assert_eq!(processor(""), None);
    }

    #[test]
    fn a_hypervisor_is_noticed_denied_or_unknown() {
        let sys_root = FakeSysRoot::new().sys_root();
        assert_eq!(sys_root.virtual_machine(Some("flags : fpu hypervisor\n"), ""), Some(true));
        assert_eq!(sys_root.virtual_machine(Some("flags : fpu\n"), ""), Some(false));
        assert_eq!(sys_root.virtual_machine(Some("CPU part : 1\n"), ""), None);
        assert_eq!(sys_root.virtual_machine(None, "QEMU Standard PC"), Some(true));
        assert_eq!(sys_root.virtual_machine(None, "Raspberry Pi 4 Model B"), Some(false));
    }

    #[test]
    fn the_product_of_a_board_ends_in_a_zero_byte() {
        let tree = FakeSysRoot::of(&[("proc/device-tree/model", "Raspberry Pi 4\0")]);
        assert_eq!(tree.sys_root().product(), "Raspberry Pi 4");
    }

    #[test]
    fn this_machine() {
        let machine = SysRoot::default().machine();
        println!("{machine:#?}");
        assert!(machine.cpus > 0 && machine.page.0 >= 4096);
        assert!(machine.memory.seen().is_some());
    }
}
