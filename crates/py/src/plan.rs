//! Plans and runs.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use tailback_scenario::{Host, HostKind, PythonProgram, Run, Workload};
use tailback_sim::{KernelSetup, RunOutcome, Seen, SimError};

use crate::control::Control;
use crate::errors::{input_error, problem_list, scenario_error, sim_error, simulation_error};
use crate::own::{self, Base};
use crate::tables::to_ipc;

/// A scenario checked and resolved, with all the runs of its sweep.
#[pyclass(frozen, module = "tailback._native")]
pub(crate) struct Plan {
    inner: tailback_scenario::Plan,
}

#[pymethods]
impl Plan {
    /// Checks and resolves a scenario (TOML text); raises `ScenarioError` with all problems.
    #[staticmethod]
    #[expect(clippy::needless_pass_by_value, reason = "Python hands over a list")]
    fn from_text(
        py: Python<'_>,
        text: &str,
        file_name: &str,
        overrides: Vec<String>,
        base_dir: Option<&str>,
    ) -> PyResult<Plan> {
        tailback_scenario::Plan::from_toml(text, file_name, &overrides, base_dir.map(Path::new))
            .map(|inner| Plan { inner })
            .map_err(|problems| scenario_error(py, &problems))
    }

    /// The scenario as resolved: presets filled in, overrides applied.
    #[getter]
    fn scenario_json(&self) -> String {
        self.inner.scenario.to_string()
    }

    /// Hash of the scenario as resolved, seed included.
    #[getter]
    fn hash(&self) -> String {
        self.inner.hash.clone()
    }

    /// What is odd about the scenario and keeps no run from being made.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        problem_list(py, &self.inner.warnings)
    }

    /// The runs, in the order of the plan.
    #[getter]
    fn runs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for run in &self.inner.runs {
            let parameters = PyList::empty(py);
            for (name, value) in &run.parameters {
                parameters.append((name, to_python(py, value)?))?;
            }
            let iterations = run.workload.iterations();
            let dict = PyDict::new(py);
            dict.set_item("index", run.index)?;
            dict.set_item("parameters", parameters)?;
            dict.set_item("repetition", run.repetition)?;
            dict.set_item("seed", run.seed)?;
            dict.set_item("iterations", iterations)?;
            dict.set_item("whole", tailback_sim::why_whole(run))?;
            dict.set_item(
                "work",
                iterations as f64 * run.workload.iteration_bytes() as f64,
            )?;
            list.append(dict)?;
        }
        Ok(list)
    }

    /// Simulates one run without holding the GIL, on so many threads if it can be cut.
    #[pyo3(signature = (index, control, *, threads))]
    fn run(
        &self,
        py: Python<'_>,
        index: usize,
        control: &Control,
        threads: usize,
    ) -> PyResult<RunResult> {
        let run = self.at(index)?;
        let cancel = &control.inner.cancel;
        with_own(py, run, cancel, |run| {
            finish(py, || {
                tailback_sim::simulate_on(threads, run, &control.inner)
            })
        })
    }

    /// Raises `InputError` with the first of all runs' programs in Python that is none.
    fn check_programs(&self, py: Python<'_>) -> PyResult<()> {
        let mut seen: [Vec<(&String, &PythonProgram)>; 2] = Default::default();
        for run in &self.inner.runs {
            let controls = (&run.python.controls, Base::CongestionControl);
            let queues = (&run.python.queues, Base::QueueDiscipline);
            for (seen, (programs, base)) in seen.iter_mut().zip([controls, queues]) {
                for one in programs {
                    if !seen.contains(&one) {
                        own::check(py, one.0, one.1, base)?;
                        seen.push(one);
                    }
                }
            }
        }
        Ok(())
    }

    /// The hosts of a run that are kernels, or would be if all were.
    #[pyo3(signature = (index, *, all_hosts))]
    fn kernel_hosts<'py>(
        &self,
        py: Python<'py>,
        index: usize,
        all_hosts: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let run = self.at(index)?;
        let list = PyList::empty(py);
        for (host, is_kernel) in run.network.hosts.iter().zip(outside(run, all_hosts)) {
            if is_kernel {
                let dict = PyDict::new(py);
                dict.set_item("host", &host.name)?;
                dict.set_item("version", host.kernel.version.as_deref())?;
                dict.set_item("hz", host.kernel.hz)?;
                dict.set_item("programs", programs(run, host))?;
                list.append(dict)?;
            }
        }
        Ok(list)
    }

    /// Raises `InputError` with all that a run cannot do with kernels for these hosts.
    #[pyo3(signature = (index, *, all_hosts))]
    fn check_kernels(&self, index: usize, all_hosts: bool) -> PyResult<()> {
        let run = self.at(index)?;
        tailback_sim::kernels_can(run, &outside(run, all_hosts))
            .map_err(|error| input_error(error.to_string()))
    }

    /// What of a run kernels for these hosts do not do, a sentence each.
    #[pyo3(signature = (index, *, all_hosts))]
    fn not_applied_by_kernels(&self, index: usize, all_hosts: bool) -> PyResult<Vec<String>> {
        let run = self.at(index)?;
        Ok(tailback_sim::not_applied_by_kernels(
            run,
            &outside(run, all_hosts),
        ))
    }

    /// Makes one run with real kernels for these hosts, without holding the GIL.
    #[pyo3(signature = (
        index, control, *, all_hosts, kernel, agent, folder, memory, core, patience_s
    ))]
    #[expect(clippy::too_many_arguments, reason = "by name, from Python")]
    fn run_with_kernels(
        &self,
        py: Python<'_>,
        index: usize,
        control: &Control,
        all_hosts: bool,
        kernel: PathBuf,
        agent: PathBuf,
        folder: PathBuf,
        memory: PathBuf,
        core: Option<usize>,
        patience_s: f64,
    ) -> PyResult<RunResult> {
        let run = self.at(index)?;
        let setup = KernelSetup {
            kernel,
            agent,
            folder,
            memory,
            core,
            patience: std::time::Duration::from_secs_f64(patience_s),
        };
        let outside = outside(run, all_hosts);
        let cancel = &control.inner.cancel;
        with_own(py, run, cancel, |run| {
            finish(py, || {
                tailback_sim::simulate_with_kernels(run, &outside, &setup, &control.inner)
            })
        })
    }

    /// What real hosts are to do in a run, as JSON; raises `InputError` with all that they cannot do.
    fn real_hosts(&self, index: usize) -> PyResult<String> {
        let hosts = tailback_sim::real_hosts(self.at(index)?)
            .map_err(|error| input_error(error.to_string()))?;
        serde_json::to_string(&hosts).map_err(|error| simulation_error(error.to_string()))
    }

    /// The hosts of a run that have something to do, by their names.
    fn working_hosts(&self, index: usize) -> PyResult<Vec<String>> {
        Ok(tailback_sim::working_hosts(self.at(index)?))
    }

    /// What somebody's own hosts (JSON) are to do in a run, as JSON; raises `InputError` with all that they
    /// cannot do.
    fn hosts_elsewhere(&self, index: usize, elsewhere: &str) -> PyResult<String> {
        let hosts = tailback_sim::hosts_elsewhere(self.at(index)?, &parsed(elsewhere)?)
            .map_err(|error| input_error(error.to_string()))?;
        serde_json::to_string(&hosts).map_err(|error| simulation_error(error.to_string()))
    }

    /// The tables of a run that somebody's own hosts (JSON) made, from what their agents told, by the hosts'
    /// numbers.
    #[expect(clippy::needless_pass_by_value, reason = "Python hands over a dict")]
    fn tables_of_hosts_elsewhere(
        &self,
        py: Python<'_>,
        index: usize,
        told: BTreeMap<usize, String>,
        elsewhere: &str,
    ) -> PyResult<RunResult> {
        let run = self.at(index)?;
        let seen = Seen::Hosts(parsed(elsewhere)?);
        finish(py, || tailback_sim::tables_of_real_hosts(run, &told, &seen))
    }

    /// The tables of a run that real hosts made, from what their agents told, by the hosts' numbers, and
    /// what their network counted (JSON).
    #[expect(clippy::needless_pass_by_value, reason = "Python hands over a dict")]
    fn tables_of_real_hosts(
        &self,
        py: Python<'_>,
        index: usize,
        told: BTreeMap<usize, String>,
        counted: &str,
    ) -> PyResult<RunResult> {
        let run = self.at(index)?;
        let seen = Seen::Network(parsed(counted)?);
        finish(py, || tailback_sim::tables_of_real_hosts(run, &told, &seen))
    }
}

impl Plan {
    fn at(&self, index: usize) -> PyResult<&Run> {
        self.inner.runs.get(index).ok_or_else(|| {
            let count = self.inner.runs.len();
            pyo3::exceptions::PyIndexError::new_err(format!("run {index}: there are {count} runs"))
        })
    }
}

/// What Python hands over as JSON.
fn parsed<T: serde::de::DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| simulation_error(error.to_string()))
}

/// Makes a run that may have programs in Python; what one of those raises is why it failed.
fn with_own(
    py: Python<'_>,
    run: &Run,
    cancel: &Arc<AtomicBool>,
    make: impl FnOnce(&Run) -> PyResult<RunResult>,
) -> PyResult<RunResult> {
    let Some((run, failure)) = own::with_programs(py, run, cancel)? else {
        return make(run);
    };
    let made = make(&run);
    match failure.told(py) {
        Some(raised) => Err(raised),
        None => made,
    }
}

/// Makes a run with the GIL released. A panic is a defect of the simulator: it fails this run and no
/// other.
fn finish(
    py: Python<'_>,
    run: impl FnOnce() -> Result<RunOutcome, SimError> + Send,
) -> PyResult<RunResult> {
    let outcome = py
        .detach(|| catch_unwind(AssertUnwindSafe(run)))
        .map_err(|panic| simulation_error(panic_message(panic.as_ref())))?
        .map_err(|error| sim_error(&error))?;
    Ok(RunResult { outcome })
}

/// Whether each host of a run is a kernel.
fn outside(run: &Run, all_hosts: bool) -> Vec<bool> {
    let hosts = run.network.hosts.iter();
    hosts
        .map(|host| all_hosts || host.kind == HostKind::Kernel)
        .collect()
}

/// What a host runs beside the agent.
fn programs(run: &Run, host: &Host) -> Vec<String> {
    let mut programs = Vec::new();
    let kernel = &host.kernel;
    let uses_ip = !kernel.ip.is_empty() || kernel.gso_max_segs.is_some();
    let number = run
        .network
        .hosts
        .iter()
        .position(|one| one.name == host.name);
    let uses_tc = !kernel.tc.is_empty()
        || number.is_some_and(|number| run.network.host_qdisc(number).is_some());
    for (program, is_used) in [("ip", uses_ip), ("tc", uses_tc)] {
        if is_used {
            programs.push(program.to_owned());
        }
    }
    if let Workload::Command(commands) = &run.workload {
        let own = commands.command.iter().filter(|c| c.host == host.name);
        programs.extend(own.filter_map(|c| Some(c.run.split_whitespace().next()?.to_owned())));
    }
    programs
}

/// The tables of one finished run.
#[pyclass(frozen, module = "tailback._native")]
pub(crate) struct RunResult {
    outcome: RunOutcome,
}

#[pymethods]
impl RunResult {
    /// Frames that crossed a link.
    #[getter]
    fn hops(&self) -> u64 {
        self.outcome.hops
    }

    /// Threads that worked at it.
    #[getter]
    fn threads(&self) -> usize {
        self.outcome.parts
    }

    /// Events handled.
    #[getter]
    fn events(&self) -> u64 {
        self.outcome.events
    }

    /// The frames that the scenario asked to capture, as a pcapng file.
    fn capture<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let bytes = self.outcome.capture.as_ref()?;
        Some(PyBytes::new(py, bytes))
    }

    /// Each table by its name, as an Arrow IPC stream.
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for table in &self.outcome.tables {
            let bytes = to_ipc(table)
                .map_err(|error| simulation_error(format!("table {}: {error}", table.name)))?;
            dict.set_item(table.name, PyBytes::new(py, &bytes))?;
        }
        Ok(dict)
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let said = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    format!(
        "defect in the simulator: {}",
        said.unwrap_or_else(|| "it panicked".to_owned())
    )
}

/// A JSON value as Python's own types.
pub(crate) fn to_python<'py>(
    py: Python<'py>,
    value: &serde_json::Value,
) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?
        .call_method1("loads", (value.to_string(),))
}
