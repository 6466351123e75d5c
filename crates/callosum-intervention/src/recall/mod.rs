//! The recall database: errors by signature, with counts and similar ones (Seed CAKE §3).
