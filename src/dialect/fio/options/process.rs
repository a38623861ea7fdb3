//! CPUs, priorities, users, programs before and after.

use super::kind::FioKind;
use super::option::{FioOption, FioStanding};
use crate::dialect::fio::input::cpus;
use crate::dialect::fio::input::value::{Applied, FioValue};
use crate::dialect::fio::job::{FioCpusPolicy, FioFault, FioJob};

const CGROUPS: FioStanding =
    FioStanding::Noted("it stays in the group that it was started in; systemd-run sets another");

pub(super) const OPTIONS: &[FioOption] = &[
    FioOption::new(
        "cpumask",
        FioKind::between(0, u32::MAX as i64),
        "the CPUs that it may use, as a mask",
        |job, value| {
            job.process.cpus_allowed = cpus::of_mask(value.last.map_or(0, |mask| mask.value));
            Ok(())
        },
        "--name=a --size=1m --cpumask=1",
    ),
    FioOption::new(
        "cpus_allowed",
        FioKind::Free,
        "the CPUs that it may use, as a list",
        |job, value| {
            job.process.cpus_allowed = cpus::read("cpus_allowed", value.text())?;
            Ok(())
        },
        "--name=a --size=1m --cpus_allowed=0",
    ),
    FioOption::new(
        "cpus_allowed_policy",
        FioKind::Word(FioCpusPolicy::WORDS),
        "how they are given to clones",
        |job, value| value.choice(&mut job.process.cpus_policy, FioCpusPolicy::of),
        "--name=a --size=1m --numjobs=2 --cpus_allowed=0-1 --cpus_allowed_policy=split",
    )
    .below("cpus_allowed")
    .priority(1),
    FioOption::new(
        "numa_cpu_nodes",
        FioKind::Free,
        "the nodes whose CPUs it may use",
        |job, value| value.some_text(&mut job.process.numa_cpu_nodes),
        "--name=a --size=1m --numa_cpu_nodes=0",
    ),
    FioOption::new(
        "numa_mem_policy",
        FioKind::Free,
        "where its memory comes from: default, local, prefer:N, bind:N, interleave[:N]",
        numa_mem_policy,
        "--name=a --size=1m --numa_mem_policy=bind:0",
    ),
    FioOption::idle(
        "comm",
        FioKind::Text,
        "what its processes are called",
        FioStanding::Noted("processes keep their names"),
        "--name=a --size=1m --comm=bench",
    ),
    FioOption::new(
        "nice",
        FioKind::between(-20, 19),
        "its nice value",
        |job, value| {
            let nice = value.slots[0].and_then(|number| i32::try_from(number).ok());
            job.process.nice = nice.unwrap_or(job.process.nice);
            Ok(())
        },
        "--name=a --size=1m --nice=5",
    )
    .default("0"),
    FioOption::new(
        "prio",
        FioKind::between(0, 7),
        "the level of its I/O priority",
        |job, value| value.u32(&mut job.process.prio),
        "--name=a --size=1m --prioclass=2 --prio=4",
    ),
    FioOption::new(
        "prioclass",
        FioKind::between(0, 3),
        "the class of its I/O priority",
        |job, value| value.u32(&mut job.process.prioclass),
        "--name=a --size=1m --prioclass=2",
    ),
    FioOption::new(
        "priohint",
        FioKind::between(0, 1023),
        "the hint of its I/O priority",
        |job, value| value.u32(&mut job.process.priohint),
        "--name=a --size=1m --prioclass=2 --priohint=1",
    ),
    FioOption::idle(
        "cgroup",
        FioKind::Text,
        "put it into a control group",
        CGROUPS,
        "--name=a --size=1m --cgroup=x",
    ),
    FioOption::idle(
        "cgroup_nodelete",
        FioKind::Bool,
        "leave the control group at the end",
        CGROUPS,
        "--name=a --size=1m --cgroup=x --cgroup_nodelete=1",
    )
    .default("0")
    .below("cgroup"),
    FioOption::idle(
        "cgroup_weight",
        FioKind::between(100, 1000),
        "the weight of the control group",
        CGROUPS,
        "--name=a --size=1m --cgroup=x --cgroup_weight=500",
    )
    .below("cgroup"),
    FioOption::idle(
        "uid",
        FioKind::INT,
        "run as this user",
        FioStanding::Refused("start the whole as that user: sudo -u \\#UID"),
        "",
    ),
    FioOption::idle(
        "gid",
        FioKind::INT,
        "run as this group",
        FioStanding::Refused("start the whole as that group: sudo -g \\#GID"),
        "",
    ),
    FioOption::idle(
        "exec_prerun",
        FioKind::Text,
        "run a command before the job",
        FioStanding::Refused("run it before: COMMAND && assay fio ..."),
        "",
    ),
    FioOption::idle(
        "exec_postrun",
        FioKind::Text,
        "run a command after the job",
        FioStanding::Refused("run it after: assay fio ... && COMMAND"),
        "",
    ),
];

fn numa_mem_policy(job: &mut FioJob, value: &FioValue<'_>) -> Applied {
    let (policy, nodes) =
        value.text().split_once(':').map_or((value.text(), None), |(p, n)| (p, Some(n)));
    let one_node = |nodes: &str| nodes.bytes().all(|byte| byte.is_ascii_digit());
    let (line, instead) = match (policy, nodes) {
        ("default" | "local", None) | ("interleave", _) | ("bind", Some(_)) => {
            return value.some_text(&mut job.process.numa_mem_policy);
        }
        ("prefer", Some(node)) if one_node(node) => {
            return value.some_text(&mut job.process.numa_mem_policy);
        }
        ("default" | "local", Some(_)) => ("fio: NO nodelist for 'local'", "local"),
        ("prefer", Some(_)) => ("fio: one node only for 'prefer'", "prefer:0"),
        ("prefer", None) => ("fio: one node is needed for 'prefer'", "prefer:0"),
        ("bind", None) => ("fio: a nodelist is needed for 'bind'", "bind:0"),
        _ => (
            "fio: memory policy should be: default, prefer, bind, interleave, local",
            "one of these",
        ),
    };
    Err(FioFault::line(line, instead))
}
