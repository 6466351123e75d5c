//! ACP: coding agents that speak the Agent Client Protocol on standard input and output.
//!
//! Start with [`answer`], which does one job in a process of its own: it starts the agent,
//! completes the handshake, and sends the prompt in a new session. The crate
//! `agent-client-protocol` speaks the protocol, and its types stay in this module. `wire` filters
//! what that crate reads, `session` collects the answer, and `policy` answers the agent's own
//! requests: it may read within the tree, and nothing else. `mode` chooses the session mode.
//!
//! Deliberately not here: terminals, writing, lending other servers to an agent, and any wider
//! permission; deadlines, which end the process and the agent with it. A moment before a deadline
//! the agent gets a request to leave.

mod mode;
mod policy;
mod session;
mod wire;
mod worker;

pub(crate) use self::worker::answer;

#[cfg(test)]
mod tests;
