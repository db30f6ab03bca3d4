//! Every profile works, and differs from the others where it is known to.

use tailback_units::Duration;

use crate::testing::{CLIENT, Fate, Net, SERVER, preset};
use crate::{Event, Flags, PRESETS};

const MS: Duration = Duration::from_ms(1);

/// A network between two hosts of a profile, open.
fn opened(name: &str) -> Net {
    let mut net = Net::of(preset(name));
    net.connect();
    net.run_for(MS * 5);
    assert!(net.happened(CLIENT, Event::Connected), "{name}");
    net
}

#[test]
fn every_profile_delivers_what_is_written_through_losses() {
    for (name, _) in PRESETS {
        let mut net = opened(name);
        for end in [CLIENT, SERVER] {
            let mut frames = 0;
            net.judge(end, move |_| {
                frames += 1;
                if frames % 50 == 17 {
                    Fate::Drop
                } else {
                    Fate::Pass
                }
            });
        }
        net.write(CLIENT, 500_000);
        net.write(SERVER, 300_000);
        let done = |n: &Net| n.delivered == [300_000, 500_000];
        assert!(net.run_until(Duration::from_secs(300), done), "{name}");
        net.shut(CLIENT);
        net.shut(SERVER);
        assert!(net.run_out(Duration::from_secs(600)), "{name}");
    }
}

#[test]
fn initial_windows_are_those_of_each_kernel() {
    // Segments of 1460 bytes, timestamps but for Windows.
    for (name, segments) in [
        ("linux-2.6.18", 3),
        ("linux-2.6.24", 3),
        ("linux-2.4-web100", 2),
        ("windows-xp", 2),
        ("linux-sce", 10),
        ("linux-6.12", 10),
        ("linux-7.2", 10),
    ] {
        let mut net = opened(name);
        // What 2.6 sends before an acknowledgement is what tcp_init_metrics leaves: 2.
        net.write(CLIENT, 100_000);
        let sent = net.data(CLIENT).count();
        let least = if name.starts_with("linux-2.6") {
            2
        } else {
            segments
        };
        assert_eq!(sent, least, "{name}");
    }
}

#[test]
fn a_lost_syn_waits_as_long_as_each_kernel_waits() {
    for (name, wait_ms) in [
        ("linux-2.6.18", 3000..=3000),
        ("linux-2.4-web100", 3000..=3000),
        ("windows-xp", 3000..=3000),
        ("linux-sce", 1000..=1070),
        ("linux-6.12", 1000..=1070),
        ("linux-7.2", 1000..=1070),
    ] {
        let mut net = Net::of(preset(name));
        net.judge(CLIENT, |_| Fate::Drop);
        net.connect();
        net.run_for(Duration::from_secs(4));
        let at: Vec<_> = net.sent(CLIENT).map(|s| s.at).collect();
        let waited = at[1].since(at[0]).as_us() / 1000;
        assert!(wait_ms.contains(&waited), "{name}: {waited}");
    }
}

#[test]
fn windows_offers_44_segments_and_neither_scales_nor_stamps() {
    let mut net = opened("windows-xp");
    let syn = net.trace[0].segment;
    let offer = syn.syn_options().unwrap();
    assert_eq!(syn.window, 44 * 1460);
    assert_eq!((offer.window_scale, offer.sack_permitted), (None, true));
    assert!(!syn.has_timestamps);
    // A single segment is acknowledged after 200 ms, unless it is read before.
    net.trace.clear();
    net.reads[SERVER] = false;
    net.write(CLIENT, 500);
    let start = net.now;
    net.run_for(MS * 300);
    let ack = net.acks(SERVER).next().unwrap();
    let waited = ack.at.since(start).as_us() / 1000;
    assert!((190..=210).contains(&waited), "{waited}");
}

#[test]
fn the_sce_kernel_asks_for_ecn() {
    let net = opened("linux-sce");
    assert!(
        net.trace[0]
            .segment
            .flags
            .contains(Flags::ECE.with(Flags::CWR))
    );
    let net = opened("linux-7.2");
    assert!(!net.trace[0].segment.flags.intersects(Flags::ECE));
}
