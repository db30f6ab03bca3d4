use std::sync::Arc;

use tailback_units::Duration;

use super::{MakeControl, Needs, OwnControl, OwnControls};
use crate::congestion::{CongestionControl, CongestionKind, Growth, View, Window};
use crate::testing::{CLIENT, Net, SERVER, config, preset};

/// What the trait does by itself.
#[derive(Clone, Debug)]
struct AsItIs;

impl OwnControl for AsItIs {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn boxed_clone(&self) -> Box<dyn OwnControl> {
        Box::new(self.clone())
    }
}

/// CUBIC behind the pointer.
#[derive(Clone, Debug)]
struct Wrapped(crate::congestion::cubic::Cubic);

impl OwnControl for Wrapped {
    fn needs(&self) -> Needs {
        Needs {
            samples: true,
            ..Needs::default()
        }
    }

    fn init(&mut self, window: &mut Window, view: &View) {
        self.0.init(window, view);
    }

    fn grow(&mut self, window: &mut Window, view: &View, growth: Growth) {
        self.0.grow(window, view, growth);
    }

    fn ssthresh(&mut self, window: &Window, view: &View) -> u32 {
        self.0.ssthresh(window, view)
    }

    fn set_state(&mut self, window: &mut Window, view: &View, state: super::CaState) {
        self.0.set_state(window, view, state);
    }

    fn cwnd_event(&mut self, window: &mut Window, view: &View, event: super::CwndEvent) {
        self.0.cwnd_event(window, view, event);
    }

    fn pkts_acked(&mut self, window: &mut Window, view: &View, sample: super::AckSample) {
        self.0.pkts_acked(window, view, sample);
    }

    fn boxed_clone(&self) -> Box<dyn OwnControl> {
        Box::new(self.clone())
    }
}

#[derive(Debug)]
struct Maker;

impl MakeControl for Maker {
    fn make(&self, name: &str, seed: u64) -> Option<Box<dyn OwnControl>> {
        match name {
            "as-it-is" => Some(Box::new(AsItIs)),
            "wrapped" => Some(Box::new(Wrapped(CongestionControl::new(
                &preset("linux-7.2"),
                seed,
            )))),
            _ => None,
        }
    }
}

/// The times and bytes of all data on a path with losses, and the windows at its end.
fn course(kind: &str, own: &OwnControls) -> (Vec<String>, u32) {
    let mut stack = preset("linux-7.2");
    stack.tcp_congestion_control = toml::Value::String(kind.to_owned())
        .try_into()
        .expect("a congestion control");
    stack.own = own.clone();
    let mut net = Net::between(config(stack.clone(), 1), config(stack, 2));
    net.open();
    net.lose_first(CLIENT, 3);
    net.write(CLIENT, 400_000);
    net.run_for(Duration::from_ms(700));
    net.read(SERVER, u64::MAX);
    net.lose_first(CLIENT, 2);
    net.write(CLIENT, 900_000);
    net.run_for(Duration::from_secs(5));
    let sent = net.data(CLIENT).map(|sent| format!("{sent:?}")).collect();
    (sent, net.end(CLIENT).probe().cwnd)
}

#[test]
fn one_behind_a_pointer_sends_what_it_sends_without() {
    let own = OwnControls(Some(Arc::new(Maker)));
    let nobody = OwnControls::default();
    let reno = course("reno", &nobody);
    let cubic = course("cubic", &nobody);
    assert!(reno.0.len() > 500 && reno != cubic);
    assert_eq!(course("python:as-it-is", &own), reno);
    assert_eq!(course("python:wrapped", &own), cubic);
}

#[test]
fn it_is_the_kind_that_was_asked_for() {
    let own = OwnControls(Some(Arc::new(Maker)));
    let name = "python:wrapped".parse().expect("a name");
    let made = own.make(&name, 1).expect("it is made");
    assert!(made.needs().samples && !made.clone().needs().acks);
    assert_eq!(CongestionKind::Own(made.name()).name(), "python:wrapped");
    assert_ne!(own, OwnControls::default());
    assert_eq!(own, own.clone());
    assert!(
        own.make(&"python:other".parse().expect("a name"), 1)
            .is_none()
    );
}
