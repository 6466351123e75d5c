//! The JSON Schemas of plans: outputs of the commands that need their kernel, and the proposal of a model.

use callosum_app::capability::{
    AcceptanceOutput, CapabilitiesOutput, CapabilityOutput, RevocationOutput,
};
use callosum_app::constitution::{ConstitutionOutput, SignedOutput};
use callosum_app::goal::{DelegationOutput, DoOutput};
use callosum_app::model::ModelListOutput;
use callosum_app::plan::{
    PlanCheckOutput, PlanEvalOutput, PlanListOutput, PlanRunOutput, PlanShowOutput,
};
use callosum_plan::PlanProposal;
use schemars::schema_for;

use super::Entry;

/// The schemas, by name.
pub(super) const SCHEMAS: &[Entry] = &[
    ("output-capability", || schema_for!(CapabilityOutput)),
    ("output-capability-accept", || schema_for!(AcceptanceOutput)),
    ("output-capability-list", || schema_for!(CapabilitiesOutput)),
    ("output-capability-revoke", || schema_for!(RevocationOutput)),
    ("output-constitution", || schema_for!(ConstitutionOutput)),
    ("output-constitution-sign", || schema_for!(SignedOutput)),
    ("output-delegation", || schema_for!(DelegationOutput)),
    ("output-do", || schema_for!(DoOutput)),
    ("output-model-list", || schema_for!(ModelListOutput)),
    ("output-plan-check", || schema_for!(PlanCheckOutput)),
    ("output-plan-eval", || schema_for!(PlanEvalOutput)),
    ("output-plan-list", || schema_for!(PlanListOutput)),
    ("output-plan-run", || schema_for!(PlanRunOutput)),
    ("output-plan-show", || schema_for!(PlanShowOutput)),
    ("plan-proposal", || schema_for!(PlanProposal)),
];
