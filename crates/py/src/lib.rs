//! `tailback._native`: the scenario model and the simulator for Python. Conversion only.
//!
//! What Python sees is typed in python/tailback/_native.pyi.

mod bottleneck;
mod capture;
mod control;
mod errors;
mod own;
mod plan;
mod queue;
mod queue_view;
mod scenario;
mod tables;
mod tcp_view;

use pyo3::prelude::*;

#[pymodule(name = "_native")]
mod native {
    #[pymodule_export]
    use crate::bottleneck::bottleneck;
    #[pymodule_export]
    use crate::capture::packets;
    #[pymodule_export]
    use crate::control::Control;
    #[pymodule_export]
    use crate::plan::{Plan, RunResult};
    #[pymodule_export]
    use crate::queue::replay_queue;
    #[pymodule_export]
    use crate::queue_view::{Packet, Queue};
    #[pymodule_export]
    use crate::scenario::{built_in, check, dat_to_toml, presets, quantity, schema};
    #[pymodule_export]
    use crate::tcp_view::{Ack, Acked, RateSample, TcpSock};

    /// The version and, after its `+`, the sources that it was built from (build.rs).
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("TAILBACK_VERSION");
}
