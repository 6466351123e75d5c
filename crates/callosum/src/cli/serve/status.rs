//! Arguments and output of `callosum serve status`.
//!
//! The use case is [`callosum_app::serve::status`].

use std::collections::BTreeSet;
use std::fmt::Write as _;

use callosum_app::serve::lines;
use callosum_app::serve::status::ServeStatusOutput;
use callosum_app::{CommandError, Exit, many};
use callosum_config::SinkSetting;
use callosum_daemon::SinkStatus;
use callosum_redact::terminal_escape::on_one_line;

use super::{Ground, asked, silent};

pub(super) fn run(ground: &Ground) -> Result<(), CommandError> {
    let answer = asked(ground, "GET", "/status");
    let silent = match &answer {
        Ok(_) => None,
        Err(_) => silent(ground)?,
    };
    let answer = answer.unwrap_or_default();
    let output = ServeStatusOutput {
        serving: serde_json::from_value(answer["serving"].clone()).ok(),
        last_seq: answer["last_seq"].as_u64(),
        subscribers: answer["subscribers"].as_u64(),
        replaced: answer["replaced"].as_str().map(str::to_owned),
        configuration_fault: answer["configuration_fault"].as_str().map(str::to_owned),
        sinks: serde_json::from_value(answer["sinks"].clone()).unwrap_or_default(),
        silent: silent.as_ref().map(|silent| silent.pid.unwrap_or_default()),
    };
    if ground.ui.json {
        ground.ui.json_data(&output)?;
    }
    let Some(serving) = &output.serving else {
        if let Some(silent) = silent {
            return Err(silent.explained());
        }
        if !ground.ui.json {
            ground.ui.say("no daemon is running");
        }
        return Err(CommandError::told(Exit::No));
    };
    if ground.ui.json {
        return Ok(());
    }
    let mut text = lines(serving);
    if let Some(at) = &output.replaced {
        let what = format!(
            "the log's folder was removed while the daemon was running, at {at}: a new log has begun, and \
             the old one is lost"
        );
        ground.ui.warn(&what, None);
    }
    if let Some(fault) = &output.configuration_fault {
        let what = format!(
            "still using the last valid configuration: {}",
            on_one_line(fault)
        );
        ground.ui.warn(&what, Some("callosum doctor"));
    }
    let subscribers = output.subscribers.unwrap_or_default();
    let last = output.last_seq.unwrap_or_default();
    let _ = writeln!(
        text,
        "since    {} (version {}), event {last}, {}",
        serving.started,
        serving.version,
        many(subscribers, "listener"),
    );
    warn_of_other_sinks(ground, &output.sinks);
    for sink in &output.sinks {
        let SinkStatus {
            name,
            kind,
            cursor,
            messages,
            passed_over,
            reason,
            ..
        } = sink;
        let taken = many(*messages, "message");
        let _ = write!(text, "sink     {name} ({kind}): {taken}");
        if !cursor.is_empty() {
            let _ = write!(text, ", at {cursor}");
        }
        if *passed_over > 0 {
            let over = many(*passed_over, "event");
            let _ = write!(text, "; refused and skipped: {over}");
        }
        if let Some(reason) = reason {
            let _ = write!(text, "; not accepted: {}", on_one_line(reason));
        }
        text.push('\n');
    }
    ground.ui.data(&text)
}

/// Says where other places are named by now than those that the daemon was begun with, or none that can be used.
fn warn_of_other_sinks(ground: &Ground, served: &[SinkStatus]) {
    let named = SinkSetting::read_all(&ground.disk, &ground.homes, &ground.environment);
    let named = match named {
        Ok(named) => named,
        Err(error) => {
            let what = format!(
                "the daemon still uses the sinks from its start, but a new daemon would not start: {}",
                on_one_line(&error.to_string())
            );
            return ground.ui.warn(&what, Some("callosum doctor"));
        }
    };
    let named: BTreeSet<&str> = named.iter().map(|sink| &*sink.name).collect();
    let served = served.iter().map(|sink| &*sink.name).collect();
    if named != served {
        let what = "the configured sinks differ from those that the daemon started with";
        ground
            .ui
            .warn(what, Some("callosum serve stop && callosum serve"));
    }
}
