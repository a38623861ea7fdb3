//! Direct I/O that is not what it says, and blocks that do not fit.

use assay::record::{Trust, Weight};

use crate::Rows;
use crate::kernel::hear_own;
use crate::lab::{self, Card};
use crate::row::Row;
use crate::shelf::{Shelf, dd, finding, heard};

crate::cases![t19_direct_that_is_not_direct, t20_parts_of_blocks_on_xfs];

fn t19_direct_that_is_not_direct(_: &Shelf) -> Rows {
    let card = Card::journal()?;
    let through = dd(&card, "if=/dev/zero of={x} bs=1M count=8 oflag=direct");
    assert_eq!(through.verdict().trust, Trust::Wrong, "{through}");
    assert_eq!(finding(&through, "T19").weight, Weight::Refute, "{through}");
    // Direct is asked for only where it is real: quick goes another way there, and says so.
    let typed = lab::assay(["quick", "--time", "3"]).word(card.mount()).within(card.rooms());
    let quick = heard(hear_own(typed));
    let notes = &quick.record.resolved.notes;
    assert!(notes.iter().any(|note| note.contains("no direct I/O")), "{notes:?}\n{quick}");
    Ok(vec![
        Row::named("T19", "dd oflag=direct on ext4 with data=journal", &through),
        Row::silent("T19", "quick in the same place asks for none", &quick),
    ])
}

fn t20_parts_of_blocks_on_xfs(_: &Shelf) -> Rows {
    let card = Card::xfs()?;
    let parts = dd(&card, "if=/dev/zero of={x} bs=512 count=500 oflag=direct conv=fsync");
    let whole = dd(&card, "if=/dev/zero of={x} bs=4k count=100 oflag=direct conv=fsync");
    Ok(vec![
        Row::named("T20", "dd bs=512 oflag=direct on XFS", &parts),
        Row::silent("T20", "dd bs=4k oflag=direct on XFS", &whole),
    ])
}
