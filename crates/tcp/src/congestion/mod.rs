//! Congestion control: one algorithm, one file, one trait.
//!
//! The sender asks on each occasion that Linux's tcp_congestion_ops has a hook for (`control`);
//! an algorithm changes the window or answers. Static dispatch over an enum: adding one is a file,
//! a line in the list below, a field of [`crate::Stack`] if it has parameters, and a page in
//! docs/models. One that is made elsewhere, while the program runs, is behind a pointer ([`own`]). State beyond some 64 bytes is boxed by the algorithm itself.

mod bbr;
mod bbr3;
mod bbr3_model;
mod bbr_policer;
mod bic;
mod cdg;
mod compound;
mod control;
mod cubic;
mod cubic_2_1;
mod cubic_sce;
mod dctcp;
mod dctcp_sce;
mod highspeed;
mod htcp;
mod hybla;
mod illinois;
mod lp;
mod max_filter;
mod named_control;
mod nv;
pub mod own;
mod prague;
mod rate_model;
mod reno;
mod reno_sce;
mod scalable;
mod sce;
mod vegas;
mod veno;
mod westwood;
mod window;
mod yeah;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::connection::CaState;
use crate::segment::Ecn;
use crate::seq::Seq;
use crate::stack::Stack;

pub use bic::BicParameters;
pub use cdg::CdgParameters;
pub use compound::CompoundParameters;
pub(crate) use control::CongestionControl;
pub use control::{AckKind, AckSample, CwndEvent, Growth, RateSample, View};
pub use cubic::CubicParameters;
pub use cubic_2_1::Cubic21Parameters;
pub use dctcp::DctcpParameters;
pub use htcp::HtcpParameters;
pub use hybla::HyblaParameters;
pub use illinois::IllinoisParameters;
pub use named_control::{InvalidControl, KernelControl, NamedControl, OwnName};
pub use nv::NvParameters;
pub use prague::PragueParameters;
pub use reno_sce::{RenoSceParameters, RenoSceVersion};
pub use scalable::ScalableParameters;
pub use vegas::VegasParameters;
pub(crate) use window::INFINITE_SSTHRESH;
pub use window::{Window, WindowCounting};

/// Makes the enum of names, that of the algorithms at work, and the calls of each.
macro_rules! congestion_controls {
    ($($(#[$doc:meta])* $name:ident($module:ident) = $text:literal;)*) => {
        /// The congestion controls there are, by the name of their kernel module; a kernel's own, `kernel:NAME`; or one's
        /// own in Python, `python:NAME`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        #[schemars(transform = named_control::one_of)]
        pub enum CongestionKind {
            $($(#[$doc])* #[serde(rename = $text)] $name,)*
            /// One that a real host's kernel has; there is no model of it.
            #[serde(untagged)]
            Kernel(KernelControl),
            /// One of a user's own, at modelled hosts: the table `python.NAME` of the scenario.
            #[serde(untagged)]
            Own(OwnName),
        }

        impl CongestionKind {
            /// All that Tailback has models of.
            pub const ALL: &'static [CongestionKind] = &[$(CongestionKind::$name),*];

            /// Its name, as scenarios and tables give it.
            #[must_use]
            pub fn name(&self) -> &str {
                match self {
                    $(CongestionKind::$name => $text,)*
                    CongestionKind::Kernel(control) => control.name(),
                    CongestionKind::Own(name) => name.name(),
                }
            }
        }

        /// A connection's congestion control at work.
        #[derive(Clone, Debug)]
        pub(crate) enum Congestion {
            $($name($module::$name),)*
            // Boxed, so that the others are told apart by a byte of its own, and not by one of its flags.
            Own(Box<own::Own>),
        }

        impl Congestion {
            /// One at the beginning; all its randomness derives from `seed`.
            pub(crate) fn new(kind: CongestionKind, stack: &Stack, seed: u64) -> Congestion {
                match kind {
                    $(CongestionKind::$name =>
                        Congestion::$name(CongestionControl::new(stack, seed)),)*
                    // Who makes hosts sees to it that none with a model has it; the kernel falls back on Reno, too.
                    CongestionKind::Kernel(_) => {
                        debug_assert!(false, "there is no model of {}", kind.name());
                        Congestion::Reno(CongestionControl::new(stack, seed))
                    }
                    CongestionKind::Own(name) => match stack.own.make(&name, seed) {
                        Some(own) => Congestion::Own(Box::new(own)),
                        None => {
                            debug_assert!(false, "nobody makes {}", kind.name());
                            Congestion::Reno(CongestionControl::new(stack, seed))
                        }
                    },
                }
            }

            /// Which it is.
            #[inline]
            pub(crate) fn kind(&self) -> CongestionKind {
                match self {
                    $(Congestion::$name(_) => CongestionKind::$name,)*
                    Congestion::Own(own) => CongestionKind::Own(own.name()),
                }
            }
        }

        /// Calls the same method of whichever algorithm it is.
        macro_rules! each {
            ($self:expr, $algorithm:ident => $call:expr) => {
                match $self {
                    $(Congestion::$name($algorithm) => $call,)*
                    Congestion::Own($algorithm) => $call,
                }
            };
        }
    };
}

congestion_controls! {
    /// Reno (RFC 5681) as in Linux.
    Reno(reno) = "reno";
    /// BIC (Xu, Harfoush, Rhee, INFOCOM 2004) as in Linux.
    Bic(bic) = "bic";
    /// CUBIC (RFC 9438) as in Linux today.
    Cubic(cubic) = "cubic";
    /// CUBIC 2.1 as in Linux 2.6.24.
    Cubic21(cubic_2_1) = "cubic-2.1";
    /// Westwood+ as in Linux.
    Westwood(westwood) = "westwood";
    /// H-TCP as in Linux.
    Htcp(htcp) = "htcp";
    /// HighSpeed TCP (RFC 3649) as in Linux.
    HighSpeed(highspeed) = "highspeed";
    /// Hybla as in Linux.
    Hybla(hybla) = "hybla";
    /// Vegas as in Linux.
    Vegas(vegas) = "vegas";
    /// TCP-NV as in Linux.
    Nv(nv) = "nv";
    /// Scalable TCP as in Linux.
    Scalable(scalable) = "scalable";
    /// TCP-LP as in Linux.
    Lp(lp) = "lp";
    /// Veno as in Linux.
    Veno(veno) = "veno";
    /// YeAH as in Linux.
    Yeah(yeah) = "yeah";
    /// Illinois as in Linux.
    Illinois(illinois) = "illinois";
    /// CDG as in Linux.
    Cdg(cdg) = "cdg";
    /// DCTCP (RFC 8257) as in Linux.
    Dctcp(dctcp) = "dctcp";
    /// BBR version 1 as in Linux.
    Bbr(bbr) = "bbr";
    /// BBR version 3 (draft-ietf-ccwg-bbr).
    Bbr3(bbr3) = "bbr3";
    /// TCP Prague (draft-briscoe-iccrg-prague-congestion-control), an L4S sender.
    Prague(prague) = "prague";
    /// Compound TCP (Tan et al., INFOCOM 2006).
    Compound(compound) = "compound";
    /// Reno with SCE (chromi/sce).
    RenoSce(reno_sce) = "reno-sce";
    /// DCTCP with SCE (chromi/sce).
    DctcpSce(dctcp_sce) = "dctcp-sce";
    /// CUBIC with SCE (chromi/sce).
    CubicSce(cubic_sce) = "cubic-sce";
}

impl CongestionKind {
    /// The algorithm of this name, if one is modelled.
    #[must_use]
    pub fn from_name(name: &str) -> Option<CongestionKind> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// Whether modelled hosts can run it.
    #[must_use]
    pub fn is_modelled(&self) -> bool {
        !matches!(self, CongestionKind::Kernel(_))
    }

    /// Its name without the prefix if it is of one's own, which only modelled hosts can run.
    #[must_use]
    pub fn own_name(&self) -> Option<&str> {
        match self {
            CongestionKind::Own(name) => Some(name.linux_name()),
            _ => None,
        }
    }

    /// Its name as Linux has it, for the sysctl `tcp_congestion_control` and the option TCP_CONGESTION.
    #[must_use]
    pub fn linux_name(&self) -> &str {
        match self {
            // An older kernel's has a name of its own here only.
            CongestionKind::Cubic21 => "cubic",
            CongestionKind::Kernel(control) => control.linux_name(),
            CongestionKind::Own(name) => name.linux_name(),
            modelled => modelled.name(),
        }
    }

    /// Whether a host with it asks for ECN whatever `tcp_ecn` says (TCP_CONG_NEEDS_ECN); of those of others it is
    /// not known before they are at work.
    #[must_use]
    pub fn needs_ecn(self) -> bool {
        matches!(self, CongestionKind::Dctcp | CongestionKind::Prague)
    }

    /// Whether it answers ESCE, and so needs ECN.
    #[must_use]
    pub fn answers_sce(self) -> bool {
        matches!(
            self,
            CongestionKind::RenoSce | CongestionKind::DctcpSce | CongestionKind::CubicSce
        )
    }

    /// Whether it sets window and pacing rate from rate samples (cong_control), and so takes the
    /// place of recovery's window reduction and needs pacing; sender linux-2.6 has neither. One's own says
    /// so when it is at work.
    #[must_use]
    #[inline]
    pub fn full_control(self) -> bool {
        matches!(
            self,
            CongestionKind::Bbr | CongestionKind::Bbr3 | CongestionKind::Prague
        )
    }
}

impl Congestion {
    /// Whether it is built in, or else this is so of its needs. Asked last, so that most that are built in are
    /// told by their kind alone.
    #[inline]
    fn built_in_or(&self, so: impl FnOnce(own::Needs) -> bool) -> bool {
        match self {
            Congestion::Own(own) => so(own.needs()),
            _ => true,
        }
    }

    /// Whether the receiver echoes the state of every packet rather than latching ECE (RFC 8257).
    pub(crate) fn wants_precise_echo(&self) -> bool {
        matches!(self, Congestion::Dctcp(_) | Congestion::Own(_))
            && self.built_in_or(|needs| needs.ecn)
    }

    /// Whether it needs ECN whatever `tcp_ecn` says, and sends SYNs that can be marked (TCP_CONG_NEEDS_ECN).
    pub(crate) fn needs_ecn(&self) -> bool {
        self.wants_precise_echo() || self.needs_accurate_ecn()
    }

    /// Whether nothing but accurate ECN will do (TCP_CONG_NEEDS_ACCECN, TCP_CONG_NO_FALLBACK_RFC3168).
    pub(crate) fn needs_accurate_ecn(&self) -> bool {
        matches!(self, Congestion::Prague(_))
    }

    /// What its packets bear that can be marked: an L4S sender's go to the queue of low latency (RFC 9331).
    pub(crate) fn ect(&self) -> Ecn {
        match self {
            Congestion::Prague(_) => Ecn::Ect1,
            _ => Ecn::Ect0,
        }
    }

    /// Whether it is told of every acknowledgement; those that most connections have do not listen.
    #[inline]
    pub(crate) fn hears_acks(&self) -> bool {
        !matches!(
            self,
            Congestion::Cubic(_) | Congestion::Reno(_) | Congestion::Bic(_)
        ) && self.built_in_or(|needs| needs.acks)
    }

    /// Whether it makes something of the round trips and counts of what is acknowledged.
    #[inline]
    pub(crate) fn hears_samples(&self) -> bool {
        !matches!(
            self,
            Congestion::Reno(_)
                | Congestion::Dctcp(_)
                | Congestion::RenoSce(_)
                | Congestion::DctcpSce(_)
        ) && self.built_in_or(|needs| needs.samples)
    }

    /// Of those that are told: whether an acknowledgement without any mark changes something in it, where so
    /// much is sent, delivered, and acknowledged with ECE. None does while it waits for marks.
    #[inline]
    pub(crate) fn hears_plain_acks(&self, snd_nxt: Seq, delivered: (u32, u32)) -> bool {
        match self {
            Congestion::Dctcp(dctcp) => !dctcp.rests(snd_nxt, delivered),
            Congestion::RenoSce(control) => !control.rests(),
            Congestion::DctcpSce(control) => !control.rests(),
            _ => true,
        }
    }

    /// [`CongestionKind::full_control`] of the one at work: asked for every packet, and so of its own kind,
    /// which is looked at faster than made into the other.
    #[inline]
    pub(crate) fn full_control(&self) -> bool {
        matches!(
            self,
            Congestion::Bbr(_) | Congestion::Bbr3(_) | Congestion::Prague(_) | Congestion::Own(_)
        ) && self.built_in_or(|needs| needs.full_control)
    }
}

impl Congestion {
    pub(crate) fn syn_acked(&mut self, rtt_us: u32) {
        each!(self, algorithm => algorithm.syn_acked(rtt_us));
    }

    #[inline]
    pub(crate) fn init(&mut self, window: &mut Window, view: &View) {
        each!(self, algorithm => algorithm.init(window, view));
    }

    #[inline]
    pub(crate) fn grow(&mut self, window: &mut Window, view: &View, growth: Growth) {
        each!(self, algorithm => algorithm.grow(window, view, growth));
    }

    pub(crate) fn ssthresh(&mut self, window: &Window, view: &View) -> u32 {
        each!(self, algorithm => algorithm.ssthresh(window, view))
    }

    pub(crate) fn cwnd_min(&self, window: &Window) -> u32 {
        each!(self, algorithm => algorithm.cwnd_min(window))
    }

    pub(crate) fn undo_cwnd(&mut self, window: &Window, view: &View) -> u32 {
        each!(self, algorithm => algorithm.undo_cwnd(window, view))
    }

    #[inline]
    pub(crate) fn set_state(&mut self, window: &mut Window, view: &View, state: CaState) {
        each!(self, algorithm => algorithm.set_state(window, view, state));
    }

    #[inline]
    pub(crate) fn cwnd_event(&mut self, window: &mut Window, view: &View, event: CwndEvent) {
        each!(self, algorithm => algorithm.cwnd_event(window, view, event));
    }

    #[inline]
    pub(crate) fn pkts_acked(&mut self, window: &mut Window, view: &View, sample: AckSample) {
        each!(self, algorithm => algorithm.pkts_acked(window, view, sample));
    }

    #[inline]
    pub(crate) fn in_ack_event(&mut self, window: &mut Window, view: &View, kind: AckKind) {
        each!(self, algorithm => algorithm.in_ack_event(window, view, kind));
    }

    #[inline]
    pub(crate) fn on_rate_sample(&mut self, window: &mut Window, view: &View, sample: &RateSample) {
        each!(self, algorithm => algorithm.on_rate_sample(window, view, sample));
    }

    #[inline]
    pub(crate) fn min_tso_segs(&self, window: &Window) -> Option<u32> {
        each!(self, algorithm => algorithm.min_tso_segs(window))
    }

    #[inline]
    pub(crate) fn tso_segs(&self) -> Option<u32> {
        match self {
            Congestion::Prague(prague) => Some(prague.tso_segs()),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn sndbuf_expand(&self) -> u32 {
        each!(self, algorithm => algorithm.sndbuf_expand())
    }
}

#[cfg(test)]
#[path = "congestion_tests.rs"]
mod tests;

#[cfg(test)]
mod algorithms_tests;
#[cfg(test)]
mod path;
