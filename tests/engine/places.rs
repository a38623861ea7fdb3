//! A model of orders, written without thinking of speed and without looking at the engine.

use assay_plan::plan::OffsetOrdering;

/// The offsets of one pass of one action as the plan's words have them, one after the other, found with a map of
/// all blocks.
pub fn model(order: &OffsetOrdering, block: u64, len: u64) -> Vec<u64> {
    let blocks = len / block;
    let mut map = vec![false; blocks as usize];
    let mut places = Vec::new();
    let mut touch = |index: u64| {
        assert!(!map[index as usize], "the model comes twice to block {index}");
        map[index as usize] = true;
        places.push(index * block);
    };
    match order {
        OffsetOrdering::Forward => (0..blocks).for_each(touch),
        OffsetOrdering::Backward => (0..blocks).rev().for_each(touch),
        OffsetOrdering::Strided { stride } => {
            let stride = (stride.0 / block).min(blocks);
            for column in 0..stride {
                (column..blocks).step_by(stride as usize).for_each(&mut touch);
            }
            assert!(map.into_iter().all(|touched| touched), "the model leaves a block out");
        }
        OffsetOrdering::Spaced { stride } => {
            let mut place = 0;
            while place + block <= len {
                places.push(place);
                place += stride.0;
            }
        }
        OffsetOrdering::Same => places.push(0),
        OffsetOrdering::Each { order } => return model(order, block, len),
        other => panic!("{other:?} has no one order"),
    }
    places
}
