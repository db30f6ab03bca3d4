//! What a congestion control in Python sees of its connection, by Linux's names (struct tcp_sock, ack_sample,
//! rate_sample).

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use tailback_tcp::CaState;
use tailback_tcp::congestion::{AckKind, AckSample, RateSample as Sample, View, Window};

/// Windows are never larger (2^30 segments; a window of TCP has 1 GiB).
pub(crate) const CWND_MAX: u32 = 1 << 30;

/// A connection's variables while one of its hooks is called.
#[pyclass(module = "tailback._native")]
#[derive(Default)]
pub(crate) struct TcpSock {
    now: Option<(Window, View)>,
    cwnd_limited: bool,
}

impl TcpSock {
    pub(crate) fn show(&mut self, window: &Window, view: &View, cwnd_limited: Option<bool>) {
        self.now = Some((*window, *view));
        self.cwnd_limited = cwnd_limited.unwrap_or(self.cwnd_limited);
    }

    /// The window as the hook left it, within what sums of the sender bear.
    pub(crate) fn window(&self) -> Option<Window> {
        let (mut window, _) = self.now?;
        window.cwnd = window.cwnd.clamp(1, CWND_MAX);
        window.cwnd_count = window.cwnd_count.min(CWND_MAX);
        Some(window)
    }

    fn seen(&self) -> PyResult<&(Window, View)> {
        let none = || PyValueError::new_err("the connection has not been opened yet");
        self.now.as_ref().ok_or_else(none)
    }

    fn view(&self) -> PyResult<&View> {
        Ok(&self.seen()?.1)
    }

    fn set(&mut self) -> PyResult<&mut Window> {
        self.seen()?;
        let none = || PyValueError::new_err("the connection has not been opened yet");
        let now = self.now.as_mut().ok_or_else(none)?;
        Ok(&mut now.0)
    }
}

/// A window or threshold in whole segments.
pub(crate) fn segments(value: &Bound<'_, PyAny>, what: &str) -> PyResult<u32> {
    let whole = value.extract::<i64>().map_err(|_| {
        PyTypeError::new_err(format!(
            "{what} is a whole number of segments, and {} is none: int() cuts the fraction off, snd_cwnd_cnt or an \
             attribute of your own keeps it",
            value.repr().map_or_else(|_| "this".to_owned(), |r| r.to_string())
        ))
    })?;
    if whole < 1 {
        let reason = format!("{what} is at least 1, and {whole} is not");
        return Err(PyValueError::new_err(reason));
    }
    // No threshold is the largest of all (TCP_INFINITE_SSTHRESH).
    Ok(whole.min(i64::from(i32::MAX)) as u32)
}

/// A state as hooks are told it (TCP_CA_*).
pub(crate) fn state_name(state: CaState) -> &'static str {
    match state {
        CaState::Open => "open",
        CaState::Disorder => "disorder",
        CaState::Cwr => "cwr",
        CaState::Recovery => "recovery",
        CaState::Loss => "loss",
    }
}

#[pymethods]
impl TcpSock {
    #[getter]
    fn snd_cwnd(&self) -> PyResult<u32> {
        Ok(self.seen()?.0.cwnd)
    }

    #[setter]
    fn set_snd_cwnd(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let window = self.set()?;
        window.cwnd = segments(value, "snd_cwnd")?
            .min(window.cwnd_clamp)
            .min(CWND_MAX);
        Ok(())
    }

    #[getter]
    fn snd_ssthresh(&self) -> PyResult<u32> {
        Ok(self.seen()?.0.ssthresh)
    }

    #[setter]
    fn set_snd_ssthresh(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set()?.ssthresh = segments(value, "snd_ssthresh")?;
        Ok(())
    }

    #[getter]
    fn snd_cwnd_cnt(&self) -> PyResult<u32> {
        Ok(self.seen()?.0.cwnd_count)
    }

    #[setter]
    fn set_snd_cwnd_cnt(&mut self, value: u32) -> PyResult<()> {
        self.set()?.cwnd_count = value.min(CWND_MAX);
        Ok(())
    }

    #[getter]
    fn snd_cwnd_clamp(&self) -> PyResult<u32> {
        Ok(self.seen()?.0.cwnd_clamp)
    }

    #[getter]
    fn prior_cwnd(&self) -> PyResult<u32> {
        Ok(self.seen()?.0.prior_cwnd)
    }

    #[getter]
    fn sk_pacing_rate(&self) -> PyResult<Option<u64>> {
        let rate = self.seen()?.0.pacing_rate;
        Ok((rate != u64::MAX).then_some(rate))
    }

    #[setter]
    fn set_sk_pacing_rate(&mut self, value: Option<f64>) -> PyResult<()> {
        let window = self.set()?;
        let rate = match value {
            None => u64::MAX,
            Some(rate) if rate >= 1.0 => rate as u64,
            Some(rate) => {
                return Err(PyValueError::new_err(format!(
                    "sk_pacing_rate is at least 1 byte a second, or None for no limit, and {rate} is neither"
                )));
            }
        };
        window.pacing_rate = rate.min(window.pacing_rate_max);
        Ok(())
    }

    #[getter]
    fn now_us(&self) -> PyResult<u64> {
        Ok(self.view()?.now_us)
    }

    #[getter]
    fn ca_state(&self) -> PyResult<&'static str> {
        Ok(state_name(self.view()?.state))
    }

    #[getter]
    fn mss_cache(&self) -> PyResult<u32> {
        Ok(self.view()?.mss)
    }

    #[getter]
    fn snd_una(&self) -> PyResult<u32> {
        Ok(self.view()?.snd_una.0)
    }

    #[getter]
    fn snd_nxt(&self) -> PyResult<u32> {
        Ok(self.view()?.snd_nxt.0)
    }

    #[getter]
    fn packets_in_flight(&self) -> PyResult<u32> {
        Ok(self.view()?.in_flight)
    }

    #[getter]
    fn srtt_us(&self) -> PyResult<Option<u32>> {
        let srtt = self.view()?.srtt_us8;
        Ok((srtt > 0).then_some(srtt >> 3))
    }

    #[getter]
    fn min_rtt_us(&self) -> PyResult<Option<u32>> {
        let least = self.view()?.min_rtt_us;
        Ok((least != u32::MAX).then_some(least))
    }

    #[getter]
    fn delivered(&self) -> PyResult<u32> {
        Ok(self.view()?.delivered)
    }

    #[getter]
    fn delivered_ce(&self) -> PyResult<u32> {
        Ok(self.view()?.delivered_ce)
    }

    #[getter]
    fn lost(&self) -> PyResult<u32> {
        Ok(self.view()?.lost)
    }

    #[getter]
    fn app_limited(&self) -> PyResult<bool> {
        Ok(self.view()?.app_limited)
    }

    #[getter]
    fn ecn(&self) -> PyResult<bool> {
        Ok(self.view()?.ecn)
    }

    #[getter]
    fn is_cwnd_limited(&self) -> bool {
        self.cwnd_limited
    }

    #[getter]
    fn in_slow_start(&self) -> PyResult<bool> {
        Ok(self.seen()?.0.in_slow_start())
    }

    /// tcp_slow_start.
    fn slow_start(&mut self, acked: u32) -> PyResult<u32> {
        Ok(self.set()?.slow_start(acked.min(CWND_MAX)))
    }

    /// tcp_cong_avoid_ai.
    fn cong_avoid_ai(&mut self, w: u32, acked: u32) -> PyResult<()> {
        self.set()?.additive_increase(w, acked.min(CWND_MAX));
        Ok(())
    }

    /// tcp_reno_cong_avoid, whether the window is in use or not.
    fn reno_cong_avoid(&mut self, acked: u32) -> PyResult<()> {
        self.set()?.reno_growth(acked.min(CWND_MAX));
        Ok(())
    }

    /// tcp_reno_ssthresh.
    fn reno_ssthresh(&self) -> PyResult<u32> {
        Ok(self.seen()?.0.reno_ssthresh())
    }

    /// tcp_reno_undo_cwnd.
    fn reno_undo_cwnd(&self) -> PyResult<u32> {
        Ok(self.seen()?.0.reno_undo())
    }
}

/// What was acknowledged (ack_sample).
#[pyclass(frozen, module = "tailback._native", name = "AckSample")]
pub(crate) struct Acked(pub(crate) AckSample);

#[pymethods]
impl Acked {
    #[getter]
    fn pkts_acked(&self) -> u32 {
        self.0.packets
    }

    #[getter]
    fn rtt_us(&self) -> Option<u32> {
        self.0.rtt_us
    }

    #[getter]
    fn in_flight(&self) -> u32 {
        self.0.in_flight
    }
}

/// What kind of acknowledgement it was (CA_ACK_*).
#[pyclass(frozen, module = "tailback._native")]
pub(crate) struct Ack(pub(crate) AckKind);

#[pymethods]
impl Ack {
    #[getter]
    fn slow_path(&self) -> bool {
        self.0.slow_path
    }

    #[getter]
    fn ece(&self) -> bool {
        self.0.ece
    }
}

/// A delivery-rate sample (rate_sample).
#[pyclass(frozen, module = "tailback._native")]
pub(crate) struct RateSample {
    pub(crate) sample: Sample,
    pub(crate) mss: u32,
}

#[pymethods]
impl RateSample {
    #[getter]
    fn prior_delivered(&self) -> u32 {
        self.sample.prior_delivered
    }

    #[getter]
    fn delivered(&self) -> i32 {
        self.sample.delivered
    }

    #[getter]
    fn delivered_ce(&self) -> i32 {
        self.sample.delivered_ce
    }

    #[getter]
    fn interval_us(&self) -> i64 {
        self.sample.interval_us
    }

    #[getter]
    fn rtt_us(&self) -> Option<u32> {
        self.sample.rtt_us
    }

    #[getter]
    fn losses(&self) -> u32 {
        self.sample.losses
    }

    #[getter]
    fn acked_sacked(&self) -> u32 {
        self.sample.acked_sacked
    }

    #[getter]
    fn prior_in_flight(&self) -> u32 {
        self.sample.prior_in_flight
    }

    #[getter]
    fn is_app_limited(&self) -> bool {
        self.sample.is_app_limited
    }

    #[getter]
    fn is_ack_delayed(&self) -> bool {
        self.sample.is_ack_delayed
    }

    /// Payload delivered a second, bytes; none without a valid sample.
    #[getter]
    fn delivery_rate(&self) -> Option<f64> {
        let (delivered, interval_us) = (self.sample.delivered, self.sample.interval_us);
        let is_valid = delivered > 0 && interval_us > 0;
        is_valid.then(|| f64::from(delivered) * f64::from(self.mss) * 1e6 / interval_us as f64)
    }
}
