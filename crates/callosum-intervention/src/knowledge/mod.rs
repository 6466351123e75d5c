//! Fixes: what happened between an error and the success that followed, and how often it helped (Seed CAKE §3).
