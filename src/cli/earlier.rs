//! Plans of earlier versions, which said by the name of their verb alone what is now a field.

use super::{dialect, modes, quick, sweep};
use crate::dialect::atto;
use assay_plan::plan::{Plan, StudyPlan, SweepAxis, ToolProfile};

/// The plan with the fields that it would have today.
pub fn completed(mut plan: Plan) -> Plan {
    let verb = plan.origin.dialect.as_str();
    if plan.aim.is_none() && verb == modes::VERB {
        plan.aim = Some(StudyPlan::Modes);
    }
    if plan.origin.tool == ToolProfile::default() {
        plan.origin.tool = match verb {
            quick::VERB => quick::tool(),
            sweep::VERB => sweep::tool(plan.study().varies(SweepAxis::Block)),
            atto::NAME => atto::tool(),
            tool => dialect::named(tool).map(|tool| (tool.profile)()).unwrap_or_default(),
        };
    }
    plan
}
