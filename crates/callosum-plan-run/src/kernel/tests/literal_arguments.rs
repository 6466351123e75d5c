//! Calls checked before their program runs.

use callosum_plan::{CallSite, CompileOptions, compile};

use super::*;
use crate::kernel::{argument_fault, built_in_manifests, repeats_effect};

fn calls(source: &str) -> Vec<CallSite> {
    let source = format!("(defplan p (x) {source})");
    let program = compile(&source, &CompileOptions::default()).unwrap();
    program.calls().to_vec()
}

fn all() -> Catalogue {
    let writer = Manifest {
        provenance: Provenance::Executor("writer".to_owned()),
        ..manifest(
            "agent.writer",
            &[Effect::StartsExecutor, Effect::WritesFiles],
            TrustTier::TRUSTED,
        )
    };
    let reader = Manifest {
        provenance: Provenance::Executor("reader".to_owned()),
        ..manifest(
            "agent.reader",
            &[Effect::StartsExecutor],
            TrustTier::TRUSTED,
        )
    };
    let tool = Manifest {
        provenance: Provenance::ToolServer("github".to_owned()),
        input: Schema::read("[:map [:title String]]").unwrap(),
        answers_by_key: false,
        ..manifest(
            "tool.github.open",
            &[Effect::CallsServer],
            TrustTier::TRUSTED,
        )
    };
    let own = built_in_manifests("1").into_iter();
    Catalogue::new(own.chain([writer, reader, tool])).unwrap()
}

fn fault(catalogue: &Catalogue, source: &str) -> Option<(String, Option<String>)> {
    let calls = calls(source);
    let manifest = catalogue.get(&calls[0].capability).unwrap();
    let fault = argument_fault(manifest, &calls[0])?;
    Some((fault.message, fault.hint))
}

/// CCOS-CAP-1: a wrong literal argument is found before the program runs; a computed one is not judged.
#[test]
fn literal_arguments_are_checked_and_computed_ones_are_not() {
    let catalogue = all();
    for (source, part) in [
        (
            "(call :agent.delegate {:promt \"p\"})",
            "unknown argument `:promt`",
        ),
        (
            "(call :agent.delegate {:executor x})",
            "{:prompt} is missing",
        ),
        ("(call :agent.delegate)", "not of type"),
        ("(call :agent.delegate {:prompt x :kind :all})", "{:kind}"),
        (
            "(call :ledger.query {:limit \"3\"})",
            "{:limit} is a string",
        ),
        ("(:ledger.query :limti x)", "unknown argument `:limti`"),
        (
            "(call :session.decide {:decision x :cite \"a:1\"})",
            "{:cite} is a string",
        ),
        ("(call :fs.read 7)", "not of type"),
        ("(call :tool.github.open {:tilte x})", "{:title} is missing"),
    ] {
        let (message, _) = fault(&catalogue, source).expect(source);
        assert!(message.contains(part), "{source}: {message}");
    }
    for source in [
        "(call :agent.delegate x)",
        "(call :agent.delegate {:prompt x :executor x})",
        "(call :ledger.query {\"limit\" 3})",
        "(call :ledger.query)",
        "(call :fs.read (str x))",
        // The server judges the keys of its tools.
        "(call :tool.github.open {:title x :body 1})",
    ] {
        assert_eq!(fault(&catalogue, source), None, "{source}");
    }
    let (_, hint) = fault(&catalogue, "(call :agent.delegate {:promt x})").unwrap();
    assert_eq!(hint.as_deref(), Some("did you mean `:prompt`?"));
    let (_, hint) = fault(&catalogue, "(call :ledger.query :limit 3)").unwrap();
    let one_map = "write one map: `(call :ledger.query {:limit 3})`";
    assert_eq!(hint.as_deref(), Some(one_map));
}

/// CCOS-RTFS-2: the calls of a step with retries that do their effect once more are known by their names.
#[test]
fn calls_that_a_retry_repeats_are_known() {
    let catalogue = all();
    let repeated = |body: &str| {
        let step = format!("(step :s {{:retries 1}} {body})");
        let calls = calls(&step);
        let manifest = catalogue.get(&calls[0].capability).unwrap();
        calls[0].retried_by.is_some() && repeats_effect(&catalogue, manifest, &calls[0])
    };
    for body in [
        "(call :mesh.publish {:topic \"a.b\"})",
        "(call :task.add {:prompt x})",
        "(call :task.add {:prompt x :id nil})",
        "(call :session.decide {:decision x})",
        "(call :tool.github.open {:title x})",
        "(call :agent.writer {:prompt x})",
        "(call :agent.delegate {:prompt x})",
        "(call :agent.delegate {:prompt x :executor :writer})",
        "(let [f (fn [y] (call :task.add {:prompt y}))] (map f [x]))",
        "(step-parallel (call :task.add {:prompt x}))",
    ] {
        assert!(repeated(body), "{body}");
    }
    for body in [
        "(call :ledger.query {})",
        "(call :fs.read x)",
        "(call :task.add {:prompt x :id \"audit\"})",
        "(call :agent.reader {:prompt x})",
        "(call :agent.delegate {:prompt x :executor \"reader\"})",
    ] {
        assert!(!repeated(body), "{body}");
    }
    let outside = "(do (call :task.add {:prompt x}) (step :s {:retries 2} (inc x)) (step :t (call :task.add {:prompt x})))";
    assert!(calls(outside).iter().all(|call| call.retried_by.is_none()));
    let nested = "(step :a {:retries 1} (call :fs.read x) (step :b {:retries 1} (call :fs.read x)) (call :fs.read x))";
    let calls = calls(nested);
    let steps = calls.iter().map(|call| call.retried_by.as_deref().unwrap());
    assert_eq!(steps.collect::<Vec<_>>(), ["a", "b", "a"]);
}
