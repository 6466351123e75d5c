//! [`answer`]: one job of the process that speaks to an agent for the controller.

use std::{fs::File, thread};

use callosum_evidence::tokens;
use callosum_host::process::Talk;
use serde_json::{Map, Value, json};

use super::{
    conversation::{Broken, Conversation, Incoming, listen},
    policy::Policy,
    session::Session,
};
use crate::{
    dialect::{Complaint, UNREACHABLE, UNREADABLE},
    transport::{Event, Job, LEAVE_WITHIN, Means, Tell, Want, farewell},
};

/// The version of the protocol that is spoken.
const VERSION: u64 = 1;

/// Does one job, and tells what happens; `tell` says whether anybody still listens.
pub(crate) fn answer(job: &Job, means: &Means<'_>, tell: &mut Tell<'_>) -> Result<(), Complaint> {
    let (program, arguments) = job
        .command
        .as_ref()
        .ok_or_else(|| Complaint::of_ours("the job has no command"))?;
    let (_agent, input, output) = Talk::start(program.as_ref(), arguments)
        .map_err(|error| Complaint::of_kind(UNREACHABLE, &error.to_string()))?;
    let policy = Policy {
        disk: means.disk,
        root: &job.root,
    };
    let mut too_much = false;
    let done = {
        let mut told = |event| tell(event);
        let (from, incoming) = listen(File::from(output));
        if let Some(farewell) = farewell::connect(job.farewell.as_deref()) {
            thread::spawn(move || {
                farewell::wait(farewell);
                // Where nobody is told, the agent has ended before.
                drop(from.send(Incoming::Leave));
            });
        }
        let mut conversation = Conversation::new(incoming, File::from(input), policy, &mut told);
        match converse(job, &mut conversation) {
            Err(Broken::TooMuch) => {
                too_much = true;
                Ok(())
            }
            Err(Broken::Because(complaint)) => Err(complaint),
            Ok(()) | Err(Broken::Unheard) => Ok(()),
        }
    };
    if too_much {
        tell(Event::TooMuch);
    }
    done
}

/// Shakes hands, and asks what the job asks.
pub(super) fn converse<W: std::io::Write>(
    job: &Job,
    conversation: &mut Conversation<'_, W>,
) -> Result<(), Broken> {
    let mut session = Session::default();
    let hello = json!({
        "protocolVersion": VERSION,
        "clientCapabilities": {
            "fs": {"readTextFile": true, "writeTextFile": false},
            "terminal": false,
        },
        "clientInfo": {"name": "callosum", "version": env!("CARGO_PKG_VERSION")},
    });
    let agent = conversation.ask("initialize", &hello, &mut session)?;
    if agent["protocolVersion"] != VERSION {
        return Err(Broken::Because(Complaint::of_kind(
            UNREADABLE,
            &format!(
                "it speaks version {} of its protocol, not {VERSION}",
                agent["protocolVersion"]
            ),
        )));
    }
    let Want::Answer(request) = &job.want else {
        let named = |key: &str| agent["agentInfo"][key].as_str().map(str::to_owned);
        return conversation.say(Event::Found {
            version: named("version"),
            offers: named("name").into_iter().collect(),
        });
    };
    let opened = json!({"cwd": job.root, "mcpServers": []});
    let opened = conversation.ask("session/new", &opened, &mut session)?;
    let id = opened["sessionId"].as_str().unwrap_or_default().to_owned();
    let prompt = request.spoken_plainly();
    conversation.say(Event::Given {
        prompt_tokens: tokens::estimate(&prompt),
        shown: Map::new(),
    })?;
    let asked = json!({"sessionId": id, "prompt": [{"type": "text", "text": prompt}]});
    let result: Value = match conversation.ask("session/prompt", &asked, &mut session) {
        Err(Broken::Unheard) => {
            conversation.cancel(&id, &mut session, LEAVE_WITHIN);
            return Err(Broken::Unheard);
        }
        other => other?,
    };
    for event in session.end(&result)? {
        conversation.say(event)?;
    }
    Ok(())
}
