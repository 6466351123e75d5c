//! How far each agent has been told what others did, and the two ways in which it is: when its session begins, and
//! between two calls of its tools.

use std::path::PathBuf;

use crate::{
    board::{Message, Order, Receipt},
    digest::{Digest, Known, digest},
    mesh::{Mesh, MeshError, Voice},
};

/// The folder with a file for each agent.
const TOLD: &str = "told";

/// Most tokens of messages that are handed over between two calls of tools.
const BETWEEN_CALLS: u64 = 300;

impl Mesh {
    /// What this agent is to be told when its session begins, in at most `budget` tokens; nothing is marked as
    /// told. `broken` are sources beside the mesh that are missing or broken.
    pub fn digest_for(
        &mut self,
        voice: &Voice,
        broken: &[String],
        budget: u64,
    ) -> Result<Digest, MeshError> {
        let since = self.told(voice)?;
        let matrix = self.matrix().clone();
        let board = self.board()?;
        let known = Known {
            agent: &voice.agent,
            board,
            since,
            matrix: &matrix,
            broken,
        };
        Ok(digest(&known, budget))
    }

    /// Marks what stands in a digest as told to this agent, by what `evidence` names: the hook that hands it
    /// over. Where something had no room, the agent will be told the rest the next time.
    pub fn deliver(
        &mut self,
        digest: &Digest,
        voice: &Voice,
        evidence: &str,
    ) -> Result<(), MeshError> {
        self.moved(&digest.messages, Receipt::Delivered, voice, evidence)?;
        if digest.left_out == 0 {
            let seq = self.board()?.seq;
            let path = self.told_file(voice);
            let disk = self.disk().clone();
            if let Some(folder) = path.parent() {
                disk.create_private_dir(folder)?;
            }
            disk.replace_unsynced(&path, seq.to_string().as_bytes(), 0o600)?;
        }
        Ok(())
    }

    /// The messages that wait for this agent, as a text to be handed over between two calls of its tools;
    /// `None` where none does. Those that this session was handed before count as seen, since it went on.
    ///
    /// Cheap where nothing waits: what was appended since the board was remembered is read, and nothing is written.
    pub fn hand_over(
        &mut self,
        voice: &Voice,
        evidence: &str,
    ) -> Result<Option<Digest>, MeshError> {
        let board = self.board()?;
        let theirs = |message: &&Message| message.to == voice.agent;
        let messages = || board.messages.iter().filter(theirs);
        let is_seen = |message: &&Message| {
            message.receipt == Some(Receipt::Delivered) && message.session_id == voice.session_id
        };
        let seen: Vec<String> = messages()
            .filter(is_seen)
            .map(|message| message.id.clone())
            .collect();
        let is_waiting = messages().any(|message| message.receipt.is_none());
        if seen.is_empty() && !is_waiting {
            return Ok(None);
        }
        self.moved(&seen, Receipt::Seen, voice, evidence)?;
        if !is_waiting {
            return Ok(None);
        }
        let matrix = self.matrix().clone();
        let board = self.board()?;
        let known = Known {
            agent: &voice.agent,
            // Nothing but messages: tasks and discoveries can wait for the next session.
            board: &crate::board::Board {
                messages: board.messages.clone(),
                ..crate::board::Board::default()
            },
            since: board.seq,
            matrix: &matrix,
            broken: &[],
        };
        let told = digest(&known, BETWEEN_CALLS);
        self.moved(&told.messages, Receipt::Delivered, voice, evidence)?;
        Ok(Some(told).filter(|told| !told.text.is_empty()))
    }

    fn moved(
        &mut self,
        messages: &[String],
        receipt: Receipt,
        voice: &Voice,
        evidence: &str,
    ) -> Result<(), MeshError> {
        if messages.is_empty() {
            return Ok(());
        }
        self.in_turn(|orders| {
            for message in messages {
                let order = Order::Move {
                    message: message.clone(),
                    receipt,
                    evidence: Some(evidence.to_owned()),
                };
                orders.give(order, voice, None)?;
            }
            Ok(())
        })
    }

    /// The last event that this agent was told of; 0 where it never was.
    fn told(&self, voice: &Voice) -> Result<u64, MeshError> {
        let bytes = self.disk().read_if_there(&self.told_file(voice))?;
        let seq = bytes.and_then(|bytes| String::from_utf8(bytes).ok()?.trim().parse().ok());
        Ok(seq.unwrap_or_default())
    }

    fn told_file(&self, voice: &Voice) -> PathBuf {
        self.folder().join(TOLD).join(voice.agent.as_str())
    }
}
