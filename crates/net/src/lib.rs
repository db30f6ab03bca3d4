//! Links, switches and hosts without a clock of their own.
//!
//! A frame arrives at a time that is given; it is admitted, dropped or marked; a port is free at
//! a time that is given; the next frame is taken. Nothing in here schedules anything.
//!
//! Each model's file holds its parameters too, as a type that a scenario file fills in.

pub mod arrivals;
pub mod flow_control;
pub mod frame;
pub mod host;
pub mod impairment;
pub mod l2cm;
pub mod link;
pub mod loss;
pub mod marking;
pub mod multipath;
pub mod oscillator;
pub mod pool;
pub mod queue;
pub mod random;
pub mod ring;
pub mod sizes;
pub mod switch;
#[cfg(test)]
mod testing;
pub mod token_bucket;
pub mod trace;
