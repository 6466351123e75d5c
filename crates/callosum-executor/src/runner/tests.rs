//! Real programs that behave badly, and what is made of it.

use std::{ffi::OsString, path::Path, time::Duration};

use callosum_host::{
    Clock, Disk,
    process::{Cancel, Ending, SpawnError},
};
use callosum_ledger::ErrorCode;
use callosum_testkit::{fakes, with_time_enough};

use super::{limits::HEARD_COMPLAINT, supervise::last_words, *};
use crate::{
    handshake::handshake,
    health::Health,
    protocol::{Answer, AnswerError, ChecksumBy, Request},
    registry::{Capabilities, Executor},
    runner::LastTranscript,
    template::TemplateError,
};
use callosum_sandbox::Connections;

/// Longer than anything here takes on the slowest machine, in milliseconds.
const LONG_MS: u64 = 300_000;

struct Scene {
    folder: tempfile::TempDir,
    surroundings: ExecutionEnvironment,
}

fn scene() -> Scene {
    let folder = tempfile::tempdir().unwrap();
    let root = Disk::real().canonicalize(folder.path()).unwrap();
    Scene {
        surroundings: ExecutionEnvironment {
            root: root.clone(),
            self_program: fakes::program("fake-executor"),
            environment: [("PATH", "/usr/bin:/bin"), ("HOME", "/h"), ("CANARY", "1")]
                .map(|(name, value)| (OsString::from(name), OsString::from(value)))
                .to_vec(),
            temporary: root.join("tmp"),
            confiner: None,
            transcript: LastTranscript::default(),
            connections: Connections::default(),
            cancel: Cancel::new().unwrap(),
            patience: Timeouts {
                quiet: Duration::from_millis(LONG_MS),
                total: Some(Duration::from_millis(LONG_MS)),
            },
            slowest_handshake: Duration::ZERO,
            client_wait: Duration::from_secs(90),
            waits: 3,
            disk: Disk::real(),
            clock: Clock::system(),
        },
        folder,
    }
}

impl Scene {
    fn ask(&self, template: &str, prompt: &str) -> Result<Answer, RunError> {
        self.ask_executor(&executor(template), &Request::bare(prompt))
    }

    fn ask_executor(&self, executor: &Executor, request: &Request) -> Result<Answer, RunError> {
        let answer = run(executor, request, &self.surroundings, &mut |_| {});
        let left = Disk::real().list_dir(&self.surroundings.temporary).unwrap();
        assert!(left.is_empty(), "{left:?}");
        answer
    }

    fn failure(&self, options: &str) -> RunError {
        self.ask(&fakes::fake(options), "do it").unwrap_err()
    }
}

fn executor(template: &str) -> Executor {
    let mut executor = Executor::cli("fake", template);
    executor.capabilities = Capabilities {
        prompt_input: true,
        json_output: true,
        filesystem_access: true,
        checksum_support: true,
    };
    executor
}

/// CAL-COM-1: both forms, with a prompt that a shell would not leave alone.
#[test]
fn a_prompt_arrives_as_it_was_in_either_form() {
    let scene = scene();
    let prompt = "say \"hi\";\n$(touch hacked) `touch hacked` 'x' \\ {self} é\u{1F600}";
    for template in [fakes::fake(""), fakes::fake_with_prompt("")] {
        let answer = scene.ask(&template, prompt).unwrap();
        assert_eq!(answer.summary, format!("asked: {prompt}"));
        assert_eq!(answer.checksum_by, ChecksumBy::Executor);
    }
    assert!(!scene.folder.path().join("hacked").exists());
}

/// CAL-COM-1: a prompt of 1 MB fits through standard input, and no argument.
#[test]
fn a_large_prompt_goes_through_standard_input_only() {
    let scene = scene();
    let prompt = "x".repeat(1 << 20);
    let answer = scene.ask(&fakes::fake(""), &prompt).unwrap();
    assert!(answer.summary.starts_with("asked (1048576 bytes): xxx"));
    let error = scene
        .ask(&fakes::fake_with_prompt(""), &prompt)
        .unwrap_err();
    assert!(matches!(
        error,
        RunError::Template(TemplateError::PromptTooLong { .. })
    ));
    assert_eq!(error.code(), None);
}

/// CAL-ERR-1: a non-zero exit and a signal are E001, with the last words.
#[test]
fn a_crash_is_reported_with_its_last_words() {
    let scene = scene();
    let error = scene.failure("--crash 7");
    assert_eq!(error.code(), Some(ErrorCode::ExecutorCrash));
    assert_eq!(
        error.to_string(),
        "`fake` ended with exit code 7: crashing on purpose"
    );
    let error = scene.failure("--abort");
    assert!(matches!(
        error,
        RunError::Crashed {
            ending: Ending::Signalled(6),
            ..
        }
    ));
}

/// LOA-SEC-1: an executor's standard error is masked before anyone sees it, and follows the
/// description of the problem.
#[test]
fn secrets_in_last_words_are_masked() {
    let key = "AKIAQWERTYUIOPASDFGH";
    let error = scene().failure(&format!("--leak 'bad key {key}' --garbage"));
    let message = error.to_string();
    assert!(
        message.starts_with("`fake` gave an invalid answer: "),
        "{message}"
    );
    let last_output = "; last output: bad key [secret: aws access key]";
    assert!(
        message.ends_with(last_output) && !message.contains(key),
        "{message}"
    );
}

/// LOA-SEC-1: nor does it matter where an executor says it, or how it ends.
#[test]
fn foreign_words_in_any_error_are_masked_and_harmless() {
    let scene = scene();
    let key = "AKIAQWERTYUIOPASDFGH";
    let escapes = "\\u001b]0;x\\u0007\\r\\u202e";
    for answer in [
        format!(r#"{{"status": "error", "error": "401 for {key}{escapes}", "details": "{key}"}}"#),
        format!(r#"{{"status": "{key} {escapes}"}}"#),
        format!(r#"{{"{key}": 1, "{key}": 2}}"#),
        format!(
            r#"{{"status": "success", "summary": "s", "tokens_used": 1, "checksum": "{key}{escapes}"}}"#
        ),
    ] {
        for template in [
            format!("printf %s '{answer}'"),
            format!("sh -c 'printf %s \"$1\"; exit 1' _ '{answer}'"),
            format!("sh -c 'printf %s \"$1\" >&2; exit 1' _ '{answer}'"),
        ] {
            let error = scene.ask(&template, "x").unwrap_err();
            let source = std::error::Error::source(&error).map(ToString::to_string);
            let message = format!("{error} {}", source.unwrap_or_default());
            assert!(!format!("{error:?}").contains(key), "{error:?}");
            assert!(!message.contains(|c: char| c.is_control() || c == '\u{202e}'));
        }
    }
    let error = scene.ask(&format!("ask {key} {{promt}}"), "x").unwrap_err();
    assert!(!format!("{error:?}").contains(key), "{error:?}");
}

/// LOA-SEC-1: a key whose beginning was cut off is not shown.
#[test]
fn last_words_are_masked_before_they_are_cut() {
    let begin = ["-----BEGIN RSA ", "PRIVATE KEY-----\n"].concat();
    let body = "MIIEowIBAAKCAQEA0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78L\n".repeat(100);
    let message = last_words(format!("{begin}{body}\n\"no key\"\n").as_bytes());
    assert!(!message.contains("MIIE"), "{message}");
    assert!(message.ends_with("\"no key\""));

    let key = "AKIAQWERTYUIOPASDFGH";
    let rest = format!("{}\n", "x".repeat(63)).repeat(HEARD_COMPLAINT / 64);
    let cut = format!("{}\n{rest}", &key[10..]);
    let message = last_words(&cut.as_bytes()[..HEARD_COMPLAINT]);
    assert!(message.len() <= 4096 && message.starts_with("xxx"));
    let secrets = format!("{key}\n").repeat(HEARD_COMPLAINT / 21 + 1);
    let from = secrets.len() - HEARD_COMPLAINT;
    assert!(!last_words(&secrets.as_bytes()[from..]).contains("ASDFGH"));
}

/// LOA-SEC-1: a sign of life is shown as it comes, so it is masked as it comes.
#[test]
fn lines_on_standard_error_are_masked_and_harmless() {
    let scene = scene();
    let executor = executor(&fakes::fake(
        "--leak '\u{1b}[2Jkey AKIAQWERTYUIOPASDFGH\rok'",
    ));
    let mut lines = Vec::new();
    run(
        &executor,
        &Request::bare("x"),
        &scene.surroundings,
        &mut |sign| {
            if let Sign::Line(line) = sign {
                lines.push(line.to_owned());
            }
        },
    )
    .unwrap();
    assert_eq!(lines, ["key [secret: aws access key]\\rok"]);
}

/// CAL-ERR-2: silence is E002, and so is taking too long while talking.
#[test]
fn silence_and_endless_talk_are_timeouts() {
    let mut scene = scene();
    scene.surroundings.patience.quiet = Duration::from_millis(100);
    let error = scene.failure("--silent");
    assert_eq!(error.code(), Some(ErrorCode::Timeout));
    assert_eq!(
        error.to_string(),
        "`fake` was silent for 100 ms and was stopped"
    );
    scene.surroundings.patience = Timeouts {
        quiet: Duration::from_millis(LONG_MS),
        total: Some(Duration::from_millis(200)),
    };
    let error = scene.failure("--chatty 60000");
    assert!(matches!(error, RunError::Deadline { .. }), "{error}");
    assert_eq!(error.code(), Some(ErrorCode::Timeout));
}

/// CAL-ERR-2: the text before the deadline comes with the error, and is no answer.
#[test]
fn text_that_came_before_the_deadline_is_not_lost() {
    let scene = scene();
    let mut slow = executor("sh -c 'echo It adds.; sleep 6000'");
    slow.protocol = Some("text".to_owned());
    for ends_as_quiet in [true, false] {
        let partial = with_time_enough(|patience_ms| {
            let (quiet_ms, total_ms) = if ends_as_quiet {
                (patience_ms, LONG_MS)
            } else {
                (LONG_MS, patience_ms)
            };
            (slow.quiet_ms, slow.total_ms) = (Some(quiet_ms), Some(total_ms));
            let error = scene.ask_executor(&slow, &Request::bare("x")).unwrap_err();
            assert_eq!(error.code(), Some(ErrorCode::Timeout), "{error}");
            error.partial().map(str::to_owned)
        });
        assert_eq!(partial, "It adds.\n");
    }
}

/// CAL-EXE-2: an entry for a part that this build lacks says what helps, and is not tried again.
#[cfg(not(feature = "hosted"))]
#[test]
fn a_part_that_this_build_lacks_is_named() {
    let scene = scene();
    let hosted = Executor::hosted("opus", "anthropic::opus");
    let error = run(
        &hosted,
        &Request::bare("x"),
        &scene.surroundings,
        &mut |_| {},
    )
    .unwrap_err();
    assert!(
        matches!(
            error,
            RunError::NotBuilt {
                feature: "hosted",
                ..
            }
        ),
        "{error}"
    );
    assert!(error.to_string().contains("--features hosted"), "{error}");
    assert!(!error.may_pass());
}

/// CAL-EXE-2: an entry may ask for more patience than the rest get.
#[test]
fn an_entry_sets_its_own_patience() {
    let mut scene = scene();
    scene.surroundings.patience.quiet = Duration::from_millis(1);
    let mut slow = executor(&fakes::fake("--slow 50"));
    slow.quiet_ms = Some(LONG_MS);
    assert!(scene.ask_executor(&slow, &Request::bare("x")).is_ok());
}

/// CAL-ERR-3: what is no answer is E003.
#[test]
fn garbage_is_malformed() {
    let scene = scene();
    for (options, says) in [
        ("--garbage", "not JSON"),
        ("--empty", "empty"),
        ("--invalid-utf8", "not UTF-8"),
        ("--error-status", "E001 the model went away"),
        ("--malformed-checksum", "64 hexadecimal digits"),
        ("--no-checksum", "no `checksum`"),
        ("--always-long", "at most 10240"),
    ] {
        let error = scene.failure(options);
        assert_eq!(error.code(), Some(ErrorCode::MalformedAnswer), "{options}");
        let source = std::error::Error::source(&error).unwrap().to_string();
        assert!(source.contains(says), "{options}: {source}");
    }
}

/// CAL-ERR-4: a checksum of something else is E004.
#[test]
fn a_wrong_checksum_is_a_mismatch() {
    let error = scene().failure("--wrong-checksum");
    assert_eq!(error.code(), Some(ErrorCode::ChecksumMismatch));
}

/// CAL-ERR-6: 50 MB are not held in memory, but cut off.
#[test]
fn a_huge_answer_is_cut_off() {
    let error = scene().failure("--huge 50000000");
    assert_eq!(error.code(), Some(ErrorCode::MemoryOverflow));
}

/// CAL-SCH-3: asked once more, with the bound, an executor may do better.
#[test]
fn a_long_answer_can_be_asked_for_again() {
    let scene = scene();
    let executor = executor(&fakes::fake("--long"));
    let request = Request::bare("tell all");
    let error = scene.ask_executor(&executor, &request).unwrap_err();
    let RunError::Answer { source, .. } = error else {
        panic!("{error}");
    };
    let AnswerError::TooLong { bytes, answer } = *source else {
        panic!("{source}");
    };
    assert_eq!(answer.summary.len(), bytes);
    let shorter = scene
        .ask_executor(&executor, &request.shorter(bytes))
        .unwrap();
    assert_eq!(shorter.summary.len(), 5 * 1024);
}

/// REQ-SEC-004: the child sees the short list, its own folder and the root; nothing else.
#[test]
fn an_executor_sees_a_short_environment_only() {
    let scene = scene();
    let answer = scene.ask(&fakes::fake("--env"), "x").unwrap();
    let lines: Vec<_> = answer.summary.lines().collect();
    let root = scene.surroundings.root.display();
    assert_eq!(lines[0], "HOME=/h");
    assert_eq!(lines[1], "PATH=/usr/bin:/bin");
    assert_eq!(lines[2], format!("PWD={root}"));
    assert!(lines[3].starts_with(&format!("TMPDIR={root}/tmp/")));
    assert_eq!(lines.len(), 4);

    let mut trusted = executor(&fakes::fake("--env"));
    trusted.pass_environment = vec!["CANARY".to_owned()];
    let answer = scene.ask_executor(&trusted, &Request::bare("x")).unwrap();
    assert!(answer.summary.contains("CANARY=1"));
}

/// CAL-SEC-1: temporary files are purged.
#[test]
fn what_an_executor_leaves_in_its_folder_is_removed() {
    let scene = scene();
    let answer = scene.ask(&fakes::fake("--litter"), "x").unwrap();
    assert!(!Path::new(&answer.summary).exists());
}

/// CAL-ERR-2: a grandchild that keeps standard output open delays no one.
#[test]
fn a_grandchild_does_not_delay_the_answer() {
    let scene = scene();
    assert!(scene.ask(&fakes::fake("--grandchild"), "x").is_ok());
}

#[test]
fn a_cancelled_run_ends_and_says_so() {
    let scene = scene();
    let cancel = scene.surroundings.cancel.clone();
    let executor = executor(&fakes::fake("--leak started --silent"));
    let mut lines = Vec::new();
    let error = run(
        &executor,
        &Request::bare("x"),
        &scene.surroundings,
        &mut |sign| {
            if let Sign::Line(line) = sign {
                lines.push(line.to_owned());
            }
            cancel.cancel();
        },
    )
    .unwrap_err();
    assert!(matches!(error, RunError::Cancelled { .. }));
    assert_eq!(lines, ["started"]);
}

#[test]
fn what_cannot_be_started_is_named() {
    let scene = scene();
    let error = scene.ask("no-such-program-anywhere", "x").unwrap_err();
    assert_eq!(error.code(), None);
    assert!(matches!(
        error,
        RunError::Spawn {
            source: SpawnError::NotFound { .. },
            ..
        }
    ));
    let mut remote = executor("x");
    remote.protocol = Some("morse".to_owned());
    assert_eq!(
        scene
            .ask_executor(&remote, &Request::bare("x"))
            .unwrap_err()
            .to_string(),
        "cannot run `fake`: this version does not support protocol `morse`"
    );
}

/// CAL-EXE-1: the handshake with real programs, good and bad.
#[test]
fn handshakes_with_real_programs_end_as_they_should() {
    let scene = scene();
    for (template, passes) in [
        (fakes::fake(""), true),
        (fakes::fake("--no-checksum"), true),
        (fakes::noop(), true),
        (fakes::fake("--garbage --always"), false),
        (fakes::fake("--crash 1 --always"), false),
        ("no-such-program-anywhere".to_owned(), false),
    ] {
        let executor = Executor::cli("fake", &template);
        let handshake = handshake(&executor, &scene.surroundings);
        assert_eq!(handshake.passed(), passes, "{template}: {handshake:?}");
    }
}

/// REQ-EXE-004: an executor that answered is not asked again in a run of the program; one that
/// stumbled may be.
#[test]
fn health_is_asked_until_it_was_good() {
    let scene = scene();
    let counter = scene.folder.path().join("count");
    let template = fakes::fake(&format!(
        "--always --crash 1 --fail-times 2 '{}'",
        counter.display()
    ));
    let health = Health::new();
    let mut executor = executor(&template);
    let found = [(); 3].map(|()| health.check(&executor, &scene.surroundings).is_ok());
    assert_eq!(found, [false, false, true]);
    executor.command_template = "no-such-program-anywhere".to_owned();
    assert!(health.check(&executor, &scene.surroundings).is_ok());
}
