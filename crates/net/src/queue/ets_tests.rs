use tailback_units::Bytes;

use super::{Ets, EtsConfig};

fn ets(strict: u8, quanta: &[u64]) -> Ets {
    Ets::new(&EtsConfig {
        strict,
        quanta: quanta.iter().map(|q| Bytes::new(*q)).collect(),
        priomap: vec![2, 1, 0],
    })
}

/// Shares of 4000 turns in which every band has frames of 1000 B, or those in `of` only.
fn shares(ets: &mut Ets, bands: usize, of: &[usize]) -> Vec<u64> {
    let mut shares = vec![0; bands];
    for _ in 0..4000 {
        let band = ets.next(|b| of.contains(&b).then_some(1000)).unwrap();
        shares[band] += 1;
    }
    shares
}

#[test]
fn strict_bands_go_first_in_order() {
    let mut ets = ets(2, &[1000]);
    assert_eq!(shares(&mut ets, 3, &[0, 1, 2]), [4000, 0, 0]);
    assert_eq!(shares(&mut ets, 3, &[1, 2]), [0, 4000, 0]);
    assert_eq!(shares(&mut ets, 3, &[2]), [0, 0, 4000]);
}

#[test]
fn the_others_share_by_their_quanta() {
    let mut ets = ets(0, &[1000, 3000, 4000]);
    assert_eq!(shares(&mut ets, 3, &[0, 1, 2]), [500, 1500, 2000]);
}

#[test]
fn a_quantum_below_a_frame_is_saved_up() {
    let mut ets = ets(0, &[250, 750]);
    let shares = shares(&mut ets, 2, &[0, 1]);
    assert_eq!(shares, [1000, 3000]);
}

#[test]
fn an_empty_band_saves_nothing_up() {
    let mut ets = ets(0, &[2000, 2000]);
    shares(&mut ets, 2, &[0]);
    let first: Vec<usize> = (0..4).map(|_| ets.next(|_| Some(1000)).unwrap()).collect();
    assert_eq!(first.iter().filter(|b| **b == 1).count(), 2, "{first:?}");
}

#[test]
fn nothing_waits_and_classes_have_their_bands() {
    let mut ets = ets(1, &[1000, 1000]);
    assert_eq!(ets.next(|_| None), None);
    assert_eq!(
        [0, 1, 2, 3, 7].map(|class| ets.band(class)),
        [2, 1, 0, 2, 2]
    );
}

#[test]
fn a_turn_pays_for_what_leaves() {
    // Of band 0 frames of 200 B are looked at and ones of 1500 B leave, or nothing at all.
    let mut ets = ets(0, &[1600, 1600]);
    let mut bytes = [0; 2];
    for turn in 0..40_000 {
        let band = ets.next(|band| Some([200, 1500][band])).unwrap();
        if band == 1 {
            ets.sent(1, 1500);
            bytes[1] += 1500;
        } else if turn % 3 == 0 {
            ets.sent(0, 0);
        } else {
            ets.sent(0, 1500);
            bytes[0] += 1500;
        }
    }
    let share = f64::from(bytes[0]) / f64::from(bytes[1]);
    assert!((share - 1.0).abs() < 0.001, "{share}");
}
