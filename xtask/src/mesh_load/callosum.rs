//! [`Callosum`]: our own daemon, by its bus.

use std::{
    net::{SocketAddr, TcpStream},
    ops::Range,
    path::Path,
    process::Stdio,
};

use serde_json::Value;
use tungstenite::{Message, WebSocket, client::client_with_config, protocol::WebSocketConfig};

use super::broker::{
    Broker, Durability, Fault, Publisher, Server, Subscriber, connect, event, free_address, number,
};
use crate::{command_of_the_developer, release_build::Release};

/// So many events a second may one source hand in: no bound.
const RATE: &str = "100000000";

/// Bytes that are read at once.
const READ: usize = 8 * 1024;

/// Our own daemon.
pub(super) struct Callosum {
    server: Server,
    bus: SocketAddr,
}

impl Callosum {
    pub(super) fn start(release: &Release, folder: &Path) -> Result<Self, Fault> {
        let bus = free_address()?;
        let mut command = command_of_the_developer(&release.callosum);
        command
            .args(["serve", "--events", "off", "--metrics", "off"])
            .args(["--page", "off", "--bus"])
            .args([&bus.to_string(), "--rate", RATE])
            .env("CALLOSUM_HOME", folder.join("callosum"))
            .env("HOME", folder)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let server = Server::start(command, "callosum", &[bus])?;
        let server = server.ok_or("the program that was built is gone")?;
        Ok(Self { server, bus })
    }

    fn connect(&self) -> Result<Bus, Fault> {
        let stream = connect(self.bus)?;
        // As much at once as the others' clients read, whose buffers are not filled with zeros each time.
        let config = WebSocketConfig::default().read_buffer_size(READ);
        let (socket, _) = client_with_config(format!("ws://{}/", self.bus), stream, Some(config))
            .map_err(|error| format!("callosum: {error}"))?;
        Ok(Bus(socket))
    }
}

impl Broker for Callosum {
    fn name(&self) -> &'static str {
        "callosum"
    }

    fn publisher(&self, durability: Durability) -> Result<Option<Box<dyn Publisher>>, Fault> {
        let bus = self.connect()?;
        Ok(Some(Box::new(Handing { bus, durability })))
    }

    fn subscriber(&self, _: Durability) -> Result<Box<dyn Subscriber>, Fault> {
        let mut bus = self.connect()?;
        bus.say(r#"{"op":"subscribe","topics":["load.*"]}"#.to_owned())?;
        bus.expect("subscribed")?;
        Ok(Box::new(bus))
    }

    fn server(&self) -> &Server {
        &self.server
    }
}

/// A connection to the bus.
struct Bus(WebSocket<TcpStream>);

impl Bus {
    fn say(&mut self, text: String) -> Result<(), Fault> {
        let sent = self.0.send(Message::text(text));
        sent.map_err(|error| format!("callosum: {error}"))
    }

    fn hear(&mut self) -> Result<String, Fault> {
        loop {
            match self.0.read() {
                Ok(Message::Text(text)) => return Ok(text.as_str().to_owned()),
                // The library answers a ping by itself.
                Ok(_) => {}
                Err(error) => return Err(format!("callosum: {error}")),
            }
        }
    }

    fn expect(&mut self, op: &str) -> Result<(), Fault> {
        let heard = self.hear()?;
        let said: Value = serde_json::from_str(&heard).unwrap_or_default();
        if said["op"] == op {
            Ok(())
        } else {
            Err(format!("callosum: {heard}"))
        }
    }
}

impl Subscriber for Bus {
    fn next(&mut self) -> Result<u64, Fault> {
        number(&self.hear()?)
    }
}

struct Handing {
    bus: Bus,
    durability: Durability,
}

impl Publisher for Handing {
    fn publish(&mut self, numbers: Range<u64>) -> Result<(), Fault> {
        let events: Vec<String> = numbers.map(event).collect();
        let events = match events.as_slice() {
            [one] => format!(r#""event":{one}"#),
            many => format!(r#""events":[{}]"#, many.join(",")),
        };
        let durability = self.durability.as_str();
        self.bus.say(format!(
            r#"{{"op":"publish","durability":"{durability}",{events}}}"#
        ))?;
        self.bus.expect("ack")
    }
}
