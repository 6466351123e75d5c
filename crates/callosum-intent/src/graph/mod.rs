//! Intents, their states, and the relations between them (Seed CCOS §1).
