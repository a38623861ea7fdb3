//! The tallies of one worker, one for each action that it does.

use serde::{Deserialize, Serialize};

use assay_plan::plan::Action;
use assay_plan::stats::{ActionTally, LatencySplit};

/// Tallies by action. Memory is taken only for the actions it was made for; of all others the
/// tally is empty.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ActionTallies {
    list: Vec<(Action, ActionTally)>,
    /// Where in the list an action is, plus one; 0: nowhere.
    place: [u8; Action::ALL.len()],
}

impl ActionTallies {
    /// Empty tallies of these actions, which keep the parts of each latency that `split` names.
    pub fn new(actions: impl IntoIterator<Item = Action>, split: LatencySplit) -> Self {
        let mut tallies = Self::default();
        for action in actions {
            if tallies.place[action as usize] == 0 {
                let parts = split.parts();
                tallies.list.push((action, ActionTally { parts, ..ActionTally::default() }));
                tallies.place[action as usize] = tallies.list.len() as u8;
            }
        }
        tallies
    }

    /// Forgets what was counted.
    pub fn clear(&mut self) {
        for (_, tally) in &mut self.list {
            let parts = tally.parts.as_ref().and_then(|parts| parts.split().parts());
            *tally = ActionTally { parts, ..ActionTally::default() };
        }
    }

    /// Adds what was counted elsewhere.
    pub fn put(&mut self, action: Action, tally: ActionTally) {
        match self.place[action as usize] {
            0 => {
                self.list.push((action, tally));
                self.place[action as usize] = self.list.len() as u8;
            }
            place => self.list[usize::from(place) - 1].1.merge(&tally),
        }
    }

    /// The tally of an action. Panics when it was not made for it.
    #[inline]
    pub fn of(&mut self, action: Action) -> &mut ActionTally {
        let place = usize::from(self.place[action as usize]).wrapping_sub(1);
        &mut self.list[place].1
    }

    /// The tally of an action, if it was made for it.
    pub fn get(&self, action: Action) -> Option<&ActionTally> {
        self.all().find(|(known, _)| *known == action).map(|(_, tally)| tally)
    }

    /// All that there are, given away.
    pub fn into_all(self) -> impl Iterator<Item = (Action, ActionTally)> {
        self.list.into_iter()
    }

    /// All that there are.
    pub fn all(&self) -> impl Iterator<Item = (Action, &ActionTally)> {
        self.list.iter().map(|(action, tally)| (*action, tally))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_action_has_its_own() {
        let mut tallies =
            ActionTallies::new([Action::Read, Action::Trim, Action::Read], LatencySplit::default());
        tallies.of(Action::Trim).add(512, 512, 7);
        let all: Vec<_> = tallies.all().map(|(action, tally)| (action, tally.ops)).collect();
        assert_eq!(all, [(Action::Read, 0), (Action::Trim, 1)]);
    }
}
