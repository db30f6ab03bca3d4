use super::super::message::call_message;
use super::*;

const NEVER_FD: fn() -> Option<OwnedFd> = || None;

fn header(request: u32, flags: u32, size: u32) -> Header {
    Header {
        request,
        flags,
        size,
    }
}

#[test]
fn the_order_of_a_boot_leads_to_ready() {
    let mut session = Session::new(1 << 32 | EVENT_IDX, vec![2, 0, 10, 0, 0, 1]);
    let answer = session.handle(header(request::SET_OWNER, 1, 0), &[], NEVER_FD);
    assert_eq!(answer, Ok(Answer::Silence));
    let asked = header(request::GET_FEATURES, 1, 0);
    let features = 1_u64 << 32 | EVENT_IDX | PROTOCOL_FEATURES;
    let expected = Answer::Reply(asked.reply(&features.to_ne_bytes()));
    assert_eq!(session.handle(asked, &[], NEVER_FD), Ok(expected));
    let protocol = OFFERED_PROTOCOL_FEATURES.to_ne_bytes();
    let asked = header(request::SET_PROTOCOL_FEATURES, 1, 8);
    let answer = session.handle(asked, &protocol, NEVER_FD);
    assert_eq!(answer, Ok(Answer::Silence));
    let asked = header(request::SET_FEATURES, 9, 8);
    let answer = session.handle(asked, &features.to_ne_bytes(), NEVER_FD);
    assert_eq!(answer, Ok(Answer::Reply(asked.reply(&[0; 8]))));
    let enable = header(request::SET_VRING_ENABLE, 9, 8);
    let first = session.handle(enable, &[0, 0, 0, 0, 1, 0, 0, 0], NEVER_FD);
    assert_eq!(first, Ok(Answer::Reply(enable.reply(&[0; 8]))));
    let second = session.handle(enable, &[1, 0, 0, 0, 1, 0, 0, 0], NEVER_FD);
    assert_eq!(second, Ok(Answer::Ready(enable.reply(&[0; 8]))));
    assert!(session.queues[1].event_idx_enabled());
}

#[test]
fn configuration_space_comes_in_the_length_asked_for() {
    let mut session = Session::new(0, vec![2, 0, 10, 0, 0, 1]);
    let asked = header(request::GET_CONFIG, 1, 12 + 8);
    let mut payload = [0; 20];
    payload[4] = 8;
    let mut expected = payload.to_vec();
    expected[12..18].copy_from_slice(&[2, 0, 10, 0, 0, 1]);
    let expected = Answer::Reply(asked.reply(&expected));
    assert_eq!(session.handle(asked, &payload, NEVER_FD), Ok(expected));
}

#[test]
fn a_driver_without_in_band_notifications_is_refused() {
    let mut session = Session::new(0, Vec::new());
    let asked = header(request::SET_PROTOCOL_FEATURES, 1, 8);
    let refused = session.handle(asked, &(1_u64 << 3).to_ne_bytes(), NEVER_FD);
    assert!(refused.is_err_and(|text| text.contains("protocol features")));
}

#[test]
fn unknown_requests_and_queues_are_named() {
    let mut session = Session::new(0, Vec::new());
    let unknown = session.handle(header(99, 1, 0), &[], NEVER_FD);
    assert!(unknown.is_err_and(|text| text.contains("99")));
    let num = header(request::SET_VRING_NUM, 1, 8);
    let no_queue = session.handle(num, &[5, 0, 0, 0, 0, 1, 0, 0], NEVER_FD);
    assert!(no_queue.is_err_and(|text| text.contains("queue 5")));
    let no_memory = session.handle(header(request::SET_MEM_TABLE, 1, 8), &[1; 40], NEVER_FD);
    assert!(no_memory.is_err());
}

#[test]
fn an_interrupt_names_its_queue_and_wants_an_answer() {
    let bytes = call_message(1);
    assert_eq!(bytes[0], 4);
    assert_eq!(bytes[4], 9);
    assert_eq!(bytes[8], 8);
    assert_eq!(bytes[12], 1);
}
