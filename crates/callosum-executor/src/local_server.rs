//! [`LocalServer`]: servers of models on this machine, at their usual addresses unless a list names others.
//!
//! A table, and [`look_around`], which requests the models of all of them at once: a request that
//! reads, costs nothing, and is made by a process of ours like any other. Deliberately not here:
//! programs in `PATH` ([`discover`](crate::discover)), and the choice among several models: a
//! person makes it.

use std::{thread, time::Duration};

use crate::{
    handshake,
    http::{Endpoint, EndpointError},
    registry::Executor,
    runner::ExecutionEnvironment,
    transport::Transport,
};

/// Longest time for an answer. The server is on this machine, and only lists its models.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);

/// Most servers that a list may name; each is asked by a process of its own, all at once.
const MOST: usize = 16;

/// Servers whose makers document a port: our id, the protocol, the port.
const USUAL: [(&str, Transport, u16); 4] = [
    ("ollama-server", Transport::Ollama, 11_434),
    ("lm-studio", Transport::OpenAi, 1_234),
    ("llama-server", Transport::OpenAi, 8_080),
    ("vllm", Transport::OpenAi, 8_000),
];

/// A possible address of a model server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalServer {
    /// Its id in the registry.
    pub id: String,
    /// Its protocol: OpenAI's interface or Ollama's.
    pub transport: Transport,
    /// Its address.
    pub endpoint: String,
}

/// A server that answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answering {
    /// The server.
    pub server: LocalServer,
    /// Its models; there may be none yet.
    pub models: Vec<String>,
}

/// Reason why a list of servers is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnfitList {
    /// An item of it is no server.
    #[error("`{}` is not a server: write ollama=http://127.0.0.1:11434 or openai=http://127.0.0.1:8080", word.escape_debug())]
    Word {
        /// The word.
        word: String,
    },
    /// An address is none.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// A server is on another machine, or has no port.
    #[error("`{}` is not a port of this machine, as in http://127.0.0.1:8080", endpoint.escape_debug())]
    NotHere {
        /// Its address.
        endpoint: String,
    },
    /// It is too long.
    #[error("it names {count} servers; at most {MOST} are asked")]
    TooMany {
        /// The number of servers that it names.
        count: usize,
    },
}

impl LocalServer {
    /// Returns the servers at the ports that their makers document.
    pub fn usual() -> Vec<Self> {
        let all = USUAL.into_iter();
        all.map(|(id, transport, port)| Self {
            id: id.to_owned(),
            transport,
            endpoint: format!("http://127.0.0.1:{port}"),
        })
        .collect()
    }

    /// Reads a list such as `ollama=http://127.0.0.1:4000 openai=http://127.0.0.1:9000`; `off` is
    /// none.
    ///
    /// Each id consists of the protocol and the port. None may be on another machine.
    pub fn listed(text: &str) -> Result<Vec<Self>, UnfitList> {
        let words: Vec<&str> = text.split_whitespace().collect();
        if words == ["off"] {
            return Ok(Vec::new());
        }
        if words.len() > MOST {
            let count = words.len();
            return Err(UnfitList::TooMany { count });
        }
        words.into_iter().map(Self::read).collect()
    }

    fn read(word: &str) -> Result<Self, UnfitList> {
        let unfit = || UnfitList::Word {
            word: word.to_owned(),
        };
        let (name, endpoint) = word.split_once('=').ok_or_else(unfit)?;
        let transport = [Transport::OpenAi, Transport::Ollama]
            .into_iter()
            .find(|transport| transport.as_str() == name)
            .ok_or_else(unfit)?;
        let parsed = Endpoint::parse(endpoint, false)?;
        let port = parsed.port().filter(|_| parsed.is_loopback());
        let port = port.ok_or_else(|| UnfitList::NotHere {
            endpoint: endpoint.to_owned(),
        })?;
        Ok(Self {
            id: format!("{name}-{port}"),
            transport,
            endpoint: endpoint.to_owned(),
        })
    }

    /// Its entry with one of its models, inactive.
    pub fn entry(&self, model: &str) -> Executor {
        let mut executor = Executor::http(&self.id, &self.endpoint, model);
        executor.protocol = Some(self.transport.as_str().to_owned());
        executor
    }

    /// Whether an entry with any id asks this very server.
    pub fn is_asked_by(&self, executor: &Executor) -> bool {
        let place = |endpoint: &str| {
            let parsed = Endpoint::parse(endpoint, false).ok()?;
            parsed.is_loopback().then(|| parsed.port()).flatten()
        };
        let asked = executor.endpoint.as_deref().and_then(place);
        asked.is_some() && asked == place(&self.endpoint)
    }
}

/// Requests the models of all servers at once, and returns those that answered, in their order.
///
/// Waits 2 s at most. A program that listens there and lists no models as such a server does has
/// not answered.
pub fn look_around(
    servers: Vec<LocalServer>,
    surroundings: &ExecutionEnvironment,
) -> Vec<Answering> {
    let ask = |server: &LocalServer| {
        let entry = server.entry("");
        handshake::offers(server.transport, &entry, surroundings, ANSWER_WITHIN).ok()
    };
    let heard: Vec<Option<Vec<String>>> = thread::scope(|scope| {
        let asked: Vec<_> = servers
            .iter()
            .map(|server| thread::Builder::new().spawn_scoped(scope, || ask(server)))
            .collect();
        // A server that no thread can be created for is not asked.
        asked
            .into_iter()
            .map(|thread| thread.ok()?.join().unwrap_or_default())
            .collect()
    });
    let both = servers.into_iter().zip(heard);
    both.filter_map(|(server, models)| {
        let models = models?;
        Some(Answering { server, models })
    })
    .collect()
}

/// Returns why an entry with the first of a server's several models waits for a person.
pub fn several_models(executor: &Executor) -> Option<String> {
    let (endpoint, model) = (executor.endpoint.as_deref()?, executor.model.as_deref()?);
    let words = [endpoint, model].map(|word| shlex::try_quote(word).map(String::from).ok());
    let [Some(endpoint), Some(model)] = words else {
        return None;
    };
    Some(format!(
        "it has several models, so choose one: callosum executor register {} --protocol {} \
         --endpoint {endpoint} --model {model}",
        executor.id,
        executor.protocol.as_deref()?
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-EXE-1: servers are looked for on this machine alone, where they listen or where a list says.
    #[test]
    fn a_list_names_servers_of_this_machine() {
        let listed =
            LocalServer::listed("ollama=http://127.0.0.1:4000 openai=http://[::1]:9000/v1");
        let listed = listed.unwrap();
        let ids: Vec<_> = listed.iter().map(|server| server.id.as_str()).collect();
        assert_eq!(ids, ["ollama-4000", "openai-9000"]);
        assert_eq!(listed[0].transport, Transport::Ollama);
        assert_eq!(LocalServer::listed("off").unwrap(), []);
        for unfit in [
            "http://127.0.0.1:4000",
            "hosted=http://127.0.0.1:4000",
            "ollama=http://192.168.1.2:11434",
            "ollama=https://example.org:443",
            "ollama=http://127.0.0.1",
            "ollama=127.0.0.1:1",
        ] {
            assert!(LocalServer::listed(unfit).is_err(), "{unfit}");
        }
        let many = ["ollama=http://127.0.0.1:1"; MOST + 1].join(" ");
        let refused = LocalServer::listed(&many).unwrap_err();
        assert_eq!(refused, UnfitList::TooMany { count: MOST + 1 });
    }

    /// CAL-EXE-1: each entry is well formed, inactive, and recognized as asking its server under
    /// any name.
    #[test]
    fn entries_of_servers_are_well_formed() {
        for server in LocalServer::usual() {
            Executor::check_id(&server.id).unwrap();
            let entry = server.entry("m");
            entry.check().unwrap();
            assert_eq!(Transport::of(&entry), Some(server.transport));
            let port = server.endpoint.rsplit(':').next().unwrap();
            let same = Executor::http("mine", &format!("http://localhost:{port}/v1"), "m");
            assert!(server.is_asked_by(&same));
            let other = Executor::http("mine", &format!("http://example.org:{port}/v1"), "m");
            assert!(!server.is_asked_by(&other));
        }
    }

    #[test]
    fn what_waits_for_a_person_is_a_line_to_paste() {
        let entry = LocalServer::usual()[0].entry("a model");
        let reason = several_models(&entry).unwrap();
        assert!(
            reason.ends_with(
                "callosum executor register ollama-server --protocol ollama \
                 --endpoint 'http://127.0.0.1:11434' --model 'a model'"
            ) || reason.contains("--endpoint http://127.0.0.1:11434 --model 'a model'"),
            "{reason}"
        );
    }
}
