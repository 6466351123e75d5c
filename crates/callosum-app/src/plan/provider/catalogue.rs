//! `:capability.query`: capabilities that plans may call here.

use callosum_host::process::Cancel;
use callosum_plan::Value;
use callosum_plan_run::kernel::{Answer, ApprovedCall, ProviderFailure, answer_query, read_query};

use crate::capability::outcomes::OutcomeFile;
use crate::plan::provider::{PlanEnvironment, free, unfit};

pub(super) fn perform(
    surroundings: &PlanEnvironment<'_>,
    call: &ApprovedCall,
    _: &Cancel,
) -> Result<Answer, ProviderFailure> {
    let everything = Value::map(std::collections::BTreeMap::new());
    let query = match call.arguments() {
        [] => &everything,
        [query] => query,
        _ => return Err(unfit(call, "it takes one map")),
    };
    let query = read_query(query).map_err(|error| unfit(call, &error.to_string()))?;
    let outcomes = OutcomeFile::of_project(surroundings.context).outcomes();
    Ok(free(answer_query(
        &surroundings.catalogue,
        &outcomes,
        &query,
    )))
}
