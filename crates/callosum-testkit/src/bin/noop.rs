//! `noop`: an executor that does nothing and says so, as fast as a program can.
//!
//! It speaks the seed's protocol on standard input, handshake included. Its answers are constants,
//! so that measurements with it show the cost of Callosum itself.

use std::io::{self, Read, Write};

const DONE: &[u8] = br#"{"checksum":"25b529aff652059cdb7ee0db22f9f886a4f914ed6b156f49f7602cdb846a98f7","status":"success","summary":"done","tokens_used":0}"#;
const PONG: &[u8] = br#"{"checksum":"0b81a87e7adf48cc361dace5dc1caea3cefe3dba32875c7ad24ce421156a97b9","status":"success","summary":"pong","tokens_used":0}"#;
const CAPABILITIES: &[u8] = br#"{"capabilities":{"checksum_support":true,"filesystem_access":false,"json_output":true,"prompt_input":true},"version":"1.0.0"}"#;

fn main() -> io::Result<()> {
    let mut request = Vec::new();
    io::stdin().read_to_end(&mut request)?;
    let answer = match request.trim_ascii_end() {
        br#"{"prompt":"ping"}"# => PONG,
        br#"{"prompt":"capabilities"}"# => CAPABILITIES,
        _ => DONE,
    };
    io::stdout().write_all(answer)
}
