use super::{AckInfo, CongestionControl, Growth, Window, bic::Bic, dctcp::Dctcp, reno::Reno};
use crate::seq::Seq;
use crate::stack::{BicParameters, DctcpParameters};

fn window(cwnd: u32, ssthresh: u32) -> Window {
    Window {
        cwnd,
        ssthresh,
        cwnd_count: 0,
    }
}

const FULL: Growth = Growth {
    now: 0,
    cwnd_limited: true,
};

#[test]
fn reno_grows_by_one_in_a_window_and_halves() {
    let mut w = window(10, 5);
    for _ in 0..11 {
        Reno.grow(&mut w, FULL);
    }
    assert_eq!(w.cwnd, 11);
    assert_eq!(Reno.ssthresh(&w), 5);
    assert_eq!(Reno.ssthresh(&window(3, 5)), 2);
}

#[test]
fn nothing_grows_unless_the_window_is_used() {
    let mut w = window(10, 100);
    Reno.grow(
        &mut w,
        Growth {
            cwnd_limited: false,
            ..FULL
        },
    );
    assert_eq!(w.cwnd, 10);
}

#[test]
fn bic_cuts_to_four_fifths_and_is_reno_when_small() {
    let mut bic = Bic::new(&BicParameters::default(), 1000);
    assert_eq!(bic.ssthresh(&window(1000, 1)), 799);
    assert_eq!(bic.ssthresh(&window(14, 1)), 7);
}

#[test]
fn bic_jumps_while_far_and_creeps_when_near() {
    let mut bic = Bic::new(&BicParameters::default(), 1000);
    bic.ssthresh(&window(1000, 1));
    let acks_to_grow = |bic: &mut Bic, cwnd: u32| {
        let mut w = window(cwnd, 1);
        (1..100_000).find(|_| {
            bic.grow(&mut w, FULL);
            w.cwnd > cwnd
        })
    };
    // delayed_ack is 2 packets an acknowledgement: half as many acknowledgements.
    assert_eq!(acks_to_grow(&mut bic, 800), Some(800 / 16 / 2 + 1));
    assert_eq!(acks_to_grow(&mut bic, 997), Some(997 * 20 / 4 / 2 + 1));
}

#[test]
fn fast_convergence_remembers_less() {
    let mut bic = Bic::new(&BicParameters::default(), 1000);
    bic.ssthresh(&window(1000, 1));
    bic.ssthresh(&window(800, 1));
    assert_eq!(bic.undo_cwnd(&window(1, 1)), 800 * (1024 + 819) / 2048);
}

#[test]
fn dctcp_follows_the_share_of_marks() {
    let mut dctcp = Dctcp::new(&DctcpParameters::default());
    assert_eq!(dctcp.ssthresh(&window(100, 1)), 50, "alpha begins at one");
    let mut una = 0;
    for _ in 0..400 {
        // A quarter of every window is marked.
        for part in 0..4 {
            una += 1;
            let ack = AckInfo {
                delivered: 10,
                ece: part == 0,
                snd_una: Seq(una),
                snd_nxt: Seq(una + 4),
            };
            dctcp.on_ack(ack);
        }
    }
    let ssthresh = dctcp.ssthresh(&window(800, 1));
    assert!(
        (690..=712).contains(&ssthresh),
        "{ssthresh}: a quarter marked cuts an eighth"
    );
}
