//! A program that gives away its rights before it starts another.
//!
//! Start with [`Order`], which says what is to be given away. The controller starts this very
//! program again with the words of [`Order::arguments`]; [`run`] recognises them, restricts itself
//! and starts what was ordered. The report that it leaves in a file is read with [`Report::read`].
//! Nothing is done between a fork and an exec: large parents would pay for their size.
//!
//! There are two steps. The *door* makes the namespaces, and waits. Inside them the *keeper*, the
//! first process of the new PID namespace, arranges the file system, gives away the rest, starts
//! the program and reaps what it leaves. When the keeper ends, the system ends all that is inside;
//! each step ends with the one that started it. Where there are no namespaces the door is a
//! *guard*: orphans become its children, and it ends them before itself.
//!
//! What is deliberately not here: which folders or programs need what, and what happens where
//! something cannot be had. The caller decides; an order is carried out whole or not at all.

#[cfg(target_os = "linux")]
mod gate;
mod guard;
mod order;
mod report;
mod start;

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
pub use self::gate::{Gate, Listeners, MOST_PORTS};
pub use self::{
    order::{Access, Layers, Order, Place},
    report::{Outcome, Report, Step},
    start::run,
};

#[cfg(test)]
mod tests;
