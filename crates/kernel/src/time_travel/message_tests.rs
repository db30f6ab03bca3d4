use super::*;

#[test]
fn a_message_survives_its_bytes() {
    for op in [
        Op::Ack,
        Op::Start,
        Op::Request,
        Op::Wait,
        Op::Get,
        Op::Update,
        Op::Run,
    ] {
        let message = Message {
            op,
            seq: 7,
            time: 0x0102_0304_0506_0708,
        };
        assert_eq!(Message::from_bytes(&message.to_bytes()), Ok(message));
    }
}

#[test]
fn an_unknown_operation_is_named() {
    let mut bytes = [0; BYTES];
    bytes[..4].copy_from_slice(&77_u32.to_ne_bytes());
    assert_eq!(Message::from_bytes(&bytes), Err(77));
}

#[test]
fn an_answer_repeats_the_number() {
    let asked = Message {
        op: Op::Get,
        seq: 9,
        time: u64::MAX,
    };
    let expected = Message {
        op: Op::Ack,
        seq: 9,
        time: 5,
    };
    assert_eq!(asked.ack(5), expected);
}
