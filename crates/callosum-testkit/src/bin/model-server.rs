//! `model-server`: a model that plays back what the prompt asks for, on loopback.
//!
//! Its first line on standard output is its address; then it prints a JSON line for each request.
//! `--port N` chooses the port, `--fallback TEXT` the answer to a prompt without a script. With
//! `--side-calls` requests that offer no tools are answered without their script.
//! [`callosum_testkit::model`] describes scripts.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use callosum_testkit::model::{ModelServer, Options};

fn main() -> io::Result<ExitCode> {
    let Some(options) = read(std::env::args().skip(1)) else {
        writeln!(
            io::stderr(),
            "usage: model-server [--port N] [--fallback TEXT] [--side-calls]"
        )?;
        return Ok(ExitCode::from(2));
    };
    let server = ModelServer::watched(options, |heard| {
        let line = serde_json::to_string(heard).expect("a request has no keys but text");
        // A client that stops reading the log still has the server.
        drop(writeln!(io::stdout(), "{line}"));
    })?;
    writeln!(io::stdout(), "{}", server.url())?;
    server.stay();
    Ok(ExitCode::SUCCESS)
}

fn read(mut arguments: impl Iterator<Item = String>) -> Option<Options> {
    let mut options = Options::default();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--port" => options.port = arguments.next()?.parse().ok()?,
            "--fallback" => options.fallback = arguments.next()?,
            "--side-calls" => options.side_calls = true,
            _ => return None,
        }
    }
    Some(options)
}
