//! The delegation engine from outside. [`defects`] has a test for each defect of the upstream engine.

mod clock;
mod defects;
mod properties;
mod records;
mod rules;
mod threads;

use callosum_intent::delegation::{
    CallContext, DelegationMetadata, Engine, EngineOptions, ExecTarget, Needs, Offer, Symbol,
};
use jiff::Timestamp;

/// Some time.
fn now() -> Timestamp {
    Timestamp::constant(1_800_000_000, 0)
}

fn local(id: &str) -> ExecTarget {
    ExecTarget::LocalModel(id.to_owned())
}

fn remote(id: &str) -> ExecTarget {
    ExecTarget::RemoteModel(id.to_owned())
}

/// Returns a call of a symbol whose key is these two numbers.
fn call(symbol: Symbol, fingerprint: u64, context: u64) -> CallContext<'static> {
    CallContext::new(symbol, fingerprint, context)
}

/// Returns an engine with a cache of this size.
fn engine(capacity: usize) -> Engine {
    Engine::new(EngineOptions {
        capacity,
        ..EngineOptions::default()
    })
}

/// Returns an engine, and a symbol for which it has a good offer.
fn engine_with_offer(name: &str) -> (Engine, Symbol) {
    let engine = Engine::default();
    let symbol = engine.symbol(name);
    engine.offer(symbol, Offer::new(local("phi")));
    (engine, symbol)
}

fn confident(confidence: f64, needs: Needs) -> DelegationMetadata {
    DelegationMetadata {
        confidence: Some(confidence),
        needs,
        ..DelegationMetadata::default()
    }
}
