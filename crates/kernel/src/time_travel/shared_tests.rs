use std::os::unix::fs::FileExt;

use super::*;

fn bytes<const N: usize>(clock: &SharedClock, at: u64) -> [u8; N] {
    let mut bytes = [0; N];
    clock
        .file
        .file()
        .read_exact_at(&mut bytes, at)
        .expect("the file is as long as the mapping");
    bytes
}

#[test]
fn the_layout_is_the_kernels() {
    let clock = SharedClock::new(3).expect("a memfd can be had");
    clock.run(2, 0x1122, 0x3344);
    assert_eq!(u32::from_ne_bytes(bytes(&clock, 0)), 2);
    assert_eq!(u32::from_ne_bytes(bytes(&clock, 4)), 4096 + 4 * 128);
    assert_eq!(u64::from_ne_bytes(bytes(&clock, 8)), 0x3344);
    assert_eq!(u64::from_ne_bytes(bytes(&clock, 16)), 0x1122);
    assert_eq!(u16::from_ne_bytes(bytes(&clock, 24)), 2);
    assert_eq!(u16::from_ne_bytes(bytes(&clock, 26)), 4);
    assert_eq!(u32::from_ne_bytes(bytes(&clock, 4096)), 1);
}

#[test]
fn a_wish_to_run_is_there_until_it_is_withdrawn() {
    let clock = SharedClock::new(1).expect("a memfd can be had");
    assert_eq!(clock.request(1), None);
    assert!(!clock.shares(1));
    clock.set_request(1, 99);
    assert_eq!(clock.request(1), Some(99));
    // The kernel takes its flag back when it runs.
    let file = clock.file.file();
    file.write_all_at(&0_u32.to_ne_bytes(), 4096 + 128 + 4)
        .expect("the file can be written");
    assert_eq!(clock.request(1), None);
}
