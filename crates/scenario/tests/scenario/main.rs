//! From a scenario file to its runs, or to what is wrong with it.

mod background_flows;
mod built_in;
mod common;
mod explicit;
mod guide;
mod hosts;
mod kernels;
mod marks;
mod over;
mod plans;
mod presets;
mod problems;
mod qdiscs;
mod short_names;
mod sweep_cases;
mod sweeps;
mod switches;
mod traces;
mod vlans;
mod wrong_types;
