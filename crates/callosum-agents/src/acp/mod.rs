//! ACP: coding agents that speak the Agent Client Protocol on standard input and output.
//!
//! Start with [`answer`], which does one job in a process of its own: it starts the agent, shakes
//! hands, and asks in a session of its own. The protocol is spoken by `agent-client-protocol`, whose
//! types stay in here; `wire` is what it is given to read, `session` what an answer is made of, and
//! `policy` what an agent that asks back is told: it may read within the tree, and nothing else.
//!
//! What is deliberately not here: terminals, writing, other servers that an agent could be lent,
//! and any permission that goes further; deadlines, which end the process and the
//! agent with it; of these it is told a moment before, to take its leave.

mod mode;
mod policy;
mod session;
mod wire;
mod worker;

pub(crate) use self::worker::answer;

#[cfg(test)]
mod tests;
