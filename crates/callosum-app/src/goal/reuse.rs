//! [`PlanKey`]: finds the plan of an earlier run for the same goal, and stores one (L4 of CCOS-DEL-1).
//!
//! A stored plan was accepted, approved by a person, and completed. It is signed with a key of this machine, and its
//! content hash covers the goal, the capabilities, the constitution and the source, so an index that points at another
//! plan is noticed. A plan that is found passes each check of a model's plan again.

use callosum_host::random;
use callosum_intent::delegation::compiled::{
    CompiledPlans, KeyId, PlanRefusal, PlanSigningKey, PolicyHash, SimilarPlans,
};
use callosum_intent::delegation::{CallContext, Engine, EngineOptions, ExecTarget, stable_hash};
use callosum_json::Checksum;
use callosum_ledger::checkpoint::MachineKey;
use callosum_plan::{Allowlist, CompileOptions, PlanRule, Unbounded, compile};
use callosum_redact::secrets;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::plan_folder::{FolderError, IndexedPlan, PlanFolder};
use crate::constitution::governance;
use crate::context::Context;
use crate::plan::drive;
use crate::plan::proposal::taken;
use crate::plan::source::Source;
use crate::{CommandError, Exit};

/// Purpose of the machine's key.
const PURPOSE: &str = "compiled-plans";

/// Dimensions of the vector of a goal's words.
const DIMENSIONS: usize = 512;

/// Cosine of two goals from which on one is a hint for the other.
const SIMILAR: f64 = 0.6;

/// Key of a stored plan: the text of its goal, and the limits of a plan for it. Goals with equal
/// keys are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanKey {
    /// The goal.
    pub goal: String,
    /// The models that plan it.
    pub planners: Vec<String>,
    /// Patterns of capabilities that its plan may call.
    pub caps: Vec<String>,
    /// Calls of its plan at most.
    pub max_calls: i64,
}

/// A stored plan that passed every check.
#[derive(Clone, Debug)]
pub struct StoredPlan {
    /// The source.
    pub source: String,
    /// The run that was completed.
    pub run: String,
    /// The model that proposed it.
    pub model: String,
    /// Its target.
    pub target: ExecTarget,
    /// The key that signed it.
    pub key: KeyId,
}

/// The result of a search.
#[derive(Debug)]
pub enum Lookup {
    /// The plan for the same goal.
    Found(Box<StoredPlan>),
    /// A plan for the same goal that is not used.
    Refused(String),
    /// The goal of a plan with similar words.
    Similar(String),
    /// Nothing.
    None,
}

/// Header that is signed together with the source.
#[derive(Debug, Serialize, Deserialize)]
struct Origin {
    format: u32,
    run: String,
    model: String,
}

/// Format of [`Origin`].
const FORMAT: u32 = 1;

impl PlanKey {
    /// Searches the stored plans. Asks no model, and records nothing.
    pub fn find(&self, context: &Context) -> Result<Lookup, CommandError> {
        let folder = PlanFolder::of(context);
        let plans = match folder.plans() {
            Ok(plans) => plans,
            Err(error) => return Ok(Lookup::Refused(error.to_string())),
        };
        let key = self.digest(context);
        let Some(found) = plans.iter().find(|plan| plan.key == key) else {
            return Ok(match self.similar(&plans) {
                Some(goal) => Lookup::Similar(goal),
                None => Lookup::None,
            });
        };
        let policy = self.policy(context);
        let keys = match signing_key_if_there(context) {
            Ok(keys) => keys,
            Err(error) => return Ok(Lookup::Refused(error.one_line())),
        };
        let keys = keys.iter().map(PlanSigningKey::verifying_key).collect();
        let target = ExecTarget::L4CacheHit {
            storage_pointer: found.pointer.clone(),
            signature: found.signature.clone(),
        };
        let opened = CompiledPlans::new(folder, keys).open(&target, policy);
        let plan = match opened {
            Ok(plan) => plan,
            Err(refusal) => return Ok(Lookup::Refused(refusal_text(found, context, &refusal))),
        };
        let origin: Option<Origin> = serde_json::from_slice(plan.code()).ok();
        let Some(origin) = origin.filter(|origin| origin.format == FORMAT) else {
            let why = "the stored plan was written by another version".to_owned();
            return Ok(Lookup::Refused(why));
        };
        if let Err(why) = self.check(context, plan.source())? {
            return Ok(Lookup::Refused(format!(
                "the stored plan is refused: {why}"
            )));
        }
        Ok(Lookup::Found(Box::new(StoredPlan {
            source: plan.source().to_owned(),
            run: origin.run,
            model: origin.model,
            key: plan.key(),
            target,
        })))
    }

    /// Stores a plan whose run was completed, with the model that proposed it.
    pub fn store(
        &self,
        context: &Context,
        source: &str,
        (run, model): (&str, &str),
    ) -> Result<(), CommandError> {
        let origin = Origin {
            format: FORMAT,
            run: run.to_owned(),
            model: model.to_owned(),
        };
        let code = serde_json::to_vec(&origin).map_err(CommandError::internal)?;
        let signing = signing_key(context)?;
        let policy = self.policy(context);
        let key = self.digest(context);
        let goal = secrets::mask(&self.normalized()).text;
        let added = PlanFolder::of(context).add(|folder| {
            let plans = CompiledPlans::new(folder.clone(), Vec::new());
            let target = plans.store(source, policy, &code, &signing)?;
            let ExecTarget::L4CacheHit {
                storage_pointer,
                signature,
            } = target
            else {
                unreachable!("a stored plan is a compiled plan");
            };
            Ok(IndexedPlan {
                key,
                pointer: storage_pointer,
                signature,
                goal,
                run: run.to_owned(),
                policy: governance(context).constitution().hash().to_owned(),
                capabilities: self.capabilities(),
                bytes: (source.len() + code.len()) as u64,
                used: context.clock.now(),
            })
        });
        added.map_err(|error| folder_failed(&error))
    }

    /// Returns the goal without differences in space.
    fn normalized(&self) -> String {
        let words: Vec<&str> = self.goal.split_whitespace().collect();
        words.join(" ")
    }

    /// Returns the hash of the capabilities, in any order.
    fn capabilities(&self) -> String {
        let mut caps = self.caps.clone();
        caps.sort_unstable();
        Checksum::of(json!(caps).to_string().as_bytes()).to_string()
    }

    /// Returns the hash of all that makes two goals the same, and of the folder that they are about.
    fn digest(&self, context: &Context) -> String {
        let parts = json!([
            self.normalized(),
            self.planners,
            self.capabilities(),
            self.max_calls,
            context.tree().to_string_lossy(),
        ]);
        Checksum::of(parts.to_string().as_bytes()).to_string()
    }

    /// Returns the hash of the same, and of the constitution.
    fn policy(&self, context: &Context) -> PolicyHash {
        let constitution = governance(context).constitution();
        let parts = json!([self.digest(context), constitution.hash()]);
        PolicyHash::of_policy(parts.to_string().as_bytes())
    }

    /// Checks a source as a model's plan: its shape, the allowed capabilities, the calls, and the compiler.
    fn check(&self, context: &Context, source: &str) -> Result<Result<(), String>, CommandError> {
        let json = json!({
            "version": "1.0",
            "plan_source": source,
            "constraints": {"caps": self.caps, "max_yields": self.max_calls},
        });
        let allowed = Allowlist::parse(&self.caps)
            .map_err(|error| CommandError::from_error(Exit::Usage, &error))?;
        let source = Source::named(json.to_string(), "the stored plan".to_owned());
        let calls = u64::try_from(self.max_calls).ok();
        let plan = match taken(&source, Some(&allowed), calls, Unbounded::BoundWhenRun) {
            Ok(plan) => plan,
            Err(reasons) => {
                let reasons: Vec<String> = reasons.iter().map(ToString::to_string).collect();
                return Ok(Err(reasons.join("; ")));
            }
        };
        let options = CompileOptions {
            provided: Some(drive::provided(context)?),
            plan: PlanRule::Required,
            ..CompileOptions::default()
        };
        Ok(match compile(&plan.source, &options) {
            Ok(program) if program.parameters().is_empty() => Ok(()),
            Ok(_) => Err("it has parameters".to_owned()),
            Err(findings) => {
                let reasons: Vec<String> = findings
                    .iter()
                    .map(|finding| finding.message.clone())
                    .collect();
                Err(reasons.join("; "))
            }
        })
    }

    /// Returns the goal of the plan whose words are nearest, if they are near enough. It decides nothing.
    fn similar(&self, plans: &[IndexedPlan]) -> Option<String> {
        let engine = Engine::new(EngineOptions::default());
        let own = vector(&self.normalized());
        let call = CallContext::new(engine.symbol("goal"), 0, 0).with_semantic(&own);
        let mut similar = SimilarPlans::default();
        for plan in plans {
            let target = ExecTarget::LocalModel(plan.pointer.clone());
            similar.add(vector(&plan.goal), target);
        }
        let nearest = similar.propose(&call, SIMILAR, 1).pop()?;
        let is_it =
            |plan: &&IndexedPlan| nearest.target == ExecTarget::LocalModel(plan.pointer.clone());
        plans.iter().find(is_it).map(|plan| plan.goal.clone())
    }
}

impl StoredPlan {
    /// Notes that it is used. A failure only makes it go earlier.
    pub fn touch(&self, context: &Context) {
        let touched = PlanFolder::of(context).touch(self.pointer(), context.clock.now());
        report(context, touched);
    }

    /// Removes it: its run failed.
    pub fn forget(&self, context: &Context) {
        report(context, PlanFolder::of(context).remove(self.pointer()));
    }

    fn pointer(&self) -> &str {
        match &self.target {
            ExecTarget::L4CacheHit {
                storage_pointer, ..
            } => storage_pointer,
            _ => "",
        }
    }
}

/// Returns the reason not to use a plan. A changed constitution is the usual one.
fn refusal_text(found: &IndexedPlan, context: &Context, refusal: &PlanRefusal) -> String {
    let policy = governance(context).constitution().hash().to_owned();
    match refusal {
        PlanRefusal::OtherPolicy(_) if found.policy != policy => {
            "the constitution changed since the plan for this goal was stored".to_owned()
        }
        other => other.to_string(),
    }
}

/// Returns the vector of a text's words. Each word counts in one dimension, so that equal words are near.
fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0; DIMENSIONS];
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric());
    for word in words.filter(|word| !word.is_empty()) {
        let hash = stable_hash([word.as_bytes()]) % DIMENSIONS as u64;
        let index = usize::try_from(hash).unwrap_or_default();
        vector[index] += 1.0;
    }
    vector
}

fn machine_key(context: &Context) -> MachineKey {
    MachineKey::in_home(&context.project.homes.machine, PURPOSE)
}

fn signing_key(context: &Context) -> Result<PlanSigningKey, CommandError> {
    let seed = random::secret_bytes();
    let seed = seed.map_err(|error| {
        let what = "cannot get random bytes from the system";
        CommandError::because(Exit::Environment, what, &error)
    })?;
    let secret = machine_key(context).derived_secret(&context.disk, &seed);
    let secret = secret.map_err(|error| CommandError::from_error(Exit::Environment, &error))?;
    Ok(PlanSigningKey::from_seed(&secret))
}

fn signing_key_if_there(context: &Context) -> Result<Option<PlanSigningKey>, CommandError> {
    let secret = machine_key(context).derived_secret_if_there(&context.disk);
    let secret = secret.map_err(|error| CommandError::from_error(Exit::Environment, &error))?;
    Ok(secret.as_ref().map(PlanSigningKey::from_seed))
}

fn folder_failed(error: &FolderError) -> CommandError {
    CommandError::because(Exit::Environment, "cannot store the plan", error)
}

fn report(context: &Context, done: Result<(), FolderError>) {
    if let Err(error) = done {
        context.report.detail(&folder_failed(&error).one_line());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(goal: &str) -> PlanKey {
        PlanKey {
            goal: goal.to_owned(),
            planners: vec!["a".to_owned()],
            caps: vec![":fs.read".to_owned(), ":ledger/*".to_owned()],
            max_calls: 20,
        }
    }

    fn indexed(goal: &str) -> IndexedPlan {
        IndexedPlan {
            key: String::new(),
            pointer: goal.to_owned(),
            signature: String::new(),
            goal: goal.to_owned(),
            run: String::new(),
            policy: String::new(),
            capabilities: String::new(),
            bytes: 0,
            used: jiff::Timestamp::UNIX_EPOCH,
        }
    }

    /// CCOS-DEL-1: space does not make a goal another one, and the order of capabilities makes no other bounds.
    #[test]
    fn goals_are_the_same_up_to_space() {
        let (one, mut other) = (key("Count  the\nlines "), key("Count the lines"));
        other.caps.reverse();
        assert_eq!(one.normalized(), other.normalized());
        assert_eq!(one.capabilities(), other.capabilities());
        assert_ne!(one.normalized(), key("count the lines").normalized());
    }

    /// CCOS-DEL-1: a goal with similar words is only named.
    #[test]
    fn a_similar_goal_is_the_nearest_one() {
        let plans = [
            indexed("Count the lines of the README"),
            indexed("Count the files"),
            indexed("Bake a cake"),
        ];
        let similar = |goal: &str| key(goal).similar(&plans);
        let expected = Some("Count the lines of the README".to_owned());
        assert_eq!(similar("count the lines in README.md"), expected);
        assert_eq!(similar("Which decisions are stale?"), None);
        assert_eq!(similar("…"), None);
    }
}
