//! Direct I/O that is not what it says, and blocks that do not fit.

use assay_record::record::{FindingWeight, Trust};
use serde_json::json;

use crate::Rows;
use crate::lab::{Card, MI, Shape, Speed};
use crate::row::Row;
use crate::shelf::{Shelf, blocks, dd, finding, pattern, run};

crate::cases! {
    beside: [],
    alone: [t19_direct_that_is_not_direct, t20_parts_of_blocks_on_xfs],
}

fn t19_direct_that_is_not_direct(_: &Shelf) -> Rows {
    let card = Card::journal()?;
    let through = dd(&card, "if=/dev/zero of={x} bs=1M count=8 oflag=direct");
    assert_eq!(through.verdict().trust, Trust::Wrong, "{through}");
    assert_eq!(finding(&through, "T19").weight, FindingWeight::Refute, "{through}");
    // Our own verbs ask for direct I/O only where it is real: they go another way here, and say so.
    let words = json!({
        "caching": "direct_if_real", "durability": "fsync_at_end",
        "pattern": pattern("write", "forward", MI),
    });
    let own = run(&card, &blocks(&card, 4 * MI, "truncated", words));
    let notes = &own.record.resolved.notes;
    assert!(notes.iter().any(|note| note.contains("no direct I/O")), "{notes:?}\n{own}");
    Ok(vec![
        Row::named("T19", "dd oflag=direct on ext4 with data=journal", &through),
        Row::silent("T19", "our own verbs ask for none there", &own),
    ])
}

fn t20_parts_of_blocks_on_xfs(_: &Shelf) -> Rows {
    let speed = Speed::bytes(16 * MI, 16 * MI);
    let card = Card::new(Shape { speed, ..Shape::xfs() })?;
    let parts = dd(&card, "if=/dev/zero of={x} bs=512 count=500 oflag=direct conv=fsync");
    let whole = dd(&card, "if=/dev/zero of={x} bs=4k count=2500 oflag=direct conv=fsync");
    Ok(vec![
        Row::named("T20", "dd bs=512 oflag=direct on XFS", &parts),
        Row::silent("T20", "dd bs=4k oflag=direct on XFS", &whole),
    ])
}
