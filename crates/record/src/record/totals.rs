//! What was done by action, as it stands in a document: flushes have a field of their own, beside what moves
//! data. Documents that have them among the others are read as before.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use assay_plan::plan::{Action, Shared};
use assay_plan::stats::ActionTotal;

/// What was done, by action, flushes included.
pub type ActionTotals = BTreeMap<Action, Box<ActionTotal>>;

/// Of a phase or a job.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct TotalsForm {
    /// What was done, by action, but for flushes: `read`, `write`, `stat`...
    totals: ActionTotals,
    /// The flushes inside the timing; absent without any.
    #[serde(default)]
    flush: Option<Box<ActionTotal>>,
}

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct WorkerForm {
    /// By action, but for flushes. Rates are over its own time.
    io: ActionTotals,
    /// Its flushes; absent without any.
    #[serde(default)]
    flush: Option<Box<ActionTotal>>,
}

fn whole(mut all: ActionTotals, flush: Option<Box<ActionTotal>>) -> ActionTotals {
    all.extend(flush.map(|flush| (Action::Flush, flush)));
    all
}

fn apart(all: &ActionTotals) -> (BTreeMap<&Action, &ActionTotal>, Option<&ActionTotal>) {
    let others = all.iter().filter(|(action, _)| **action != Action::Flush);
    let others = others.map(|(action, total)| (action, &**total)).collect();
    (others, all.get(&Action::Flush).map(AsRef::as_ref))
}

pub(super) fn serialize<S: Serializer>(all: &ActionTotals, to: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct TotalsDocument<'a> {
        totals: BTreeMap<&'a Action, &'a ActionTotal>,
        #[serde(skip_serializing_if = "Option::is_none")]
        flush: Option<&'a ActionTotal>,
    }
    let (totals, flush) = apart(all);
    TotalsDocument { totals, flush }.serialize(to)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Shared<ActionTotals>, D::Error> {
    TotalsForm::deserialize(from).map(|form| whole(form.totals, form.flush).into())
}

/// The same of a worker.
pub(super) mod worker {
    use super::{
        Action, ActionTotal, ActionTotals, BTreeMap, Deserialize, Deserializer, Serialize,
        Serializer, Shared, WorkerForm, apart, whole,
    };

    pub fn serialize<S: Serializer>(all: &ActionTotals, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct WorkerDocument<'a> {
            io: BTreeMap<&'a Action, &'a ActionTotal>,
            #[serde(skip_serializing_if = "Option::is_none")]
            flush: Option<&'a ActionTotal>,
        }
        let (io, flush) = apart(all);
        WorkerDocument { io, flush }.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Shared<ActionTotals>, D::Error> {
        WorkerForm::deserialize(from).map(|form| whole(form.io, form.flush).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{JobResult, WorkerResult};
    use assay_plan::stats::ActionTally;
    use assay_plan::unit::Nanos;

    fn total(ops: u64) -> Box<ActionTotal> {
        Box::new(ActionTally { ops, ..ActionTally::default() }.total(Nanos::secs(1)))
    }

    #[test]
    fn flushes_stand_beside_what_moves_data_and_older_documents_are_read() {
        let totals = ActionTotals::from([(Action::Write, total(7)), (Action::Flush, total(1))]);
        let totals = Shared::from(totals);
        let job = JobResult { name: "w".into(), totals: totals.clone(), ..JobResult::default() };
        let mut new = serde_json::to_value(&job).expect("a document");
        assert_eq!(new["flush"]["ops"], 1);
        assert!(new["totals"].get("flush").is_none() && new["totals"].get("write").is_some());
        assert_eq!(serde_json::from_value::<JobResult>(new.clone()).expect("new").totals, totals);
        let flush = new.as_object_mut().and_then(|job| job.remove("flush")).expect("there");
        new["totals"]["flush"] = flush;
        assert_eq!(serde_json::from_value::<JobResult>(new).expect("old").totals, totals);

        let worker = WorkerResult { io: totals.clone(), ..WorkerResult::default() };
        let new = serde_json::to_value(&worker).expect("a document");
        assert!(new["io"].get("flush").is_none() && new["flush"]["ops"] == 1);
        assert_eq!(serde_json::from_value::<WorkerResult>(new).expect("new").io, totals);
    }

    #[cfg(feature = "schema")]
    #[test]
    fn the_schema_has_the_field() {
        let schema = schemars::schema_for!(JobResult).to_value();
        assert!(schema["properties"]["flush"].is_object(), "{schema}");
        assert!(schema["properties"]["totals"].is_object(), "{schema}");
    }
}
