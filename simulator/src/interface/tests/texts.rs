//! Texts, which are sent as they are.

use codec::Character;
use codec::crc::crc8;

use super::{HERE, InterfaceBench, PARAMETERS, data, interface, raw, stream};
use crate::link::source_item::SourceItem;
use crate::link::tagged_char::{PacketId, TaggedChar};
use crate::traffic::ArrivalProcess;
use crate::traffic::payload;
use crate::truth::TruthEventKind;

#[test]
fn a_text_goes_out_as_it_stands_before_packets() {
    let text = [
        data(&[0x81, 0x05]),
        vec![Character::Control(0x33), Character::Control(0)],
        data(&[0x07]),
        vec![Character::GAP, Character::GAP],
        data(&[0xff]),
        vec![Character::GAP],
    ]
    .concat();
    let streams = vec![stream(ArrivalProcess::Saturating, 1)];
    let mut bench = InterfaceBench::new(interface(PARAMETERS, streams, vec![raw(2, text)]));
    assert_eq!(bench.sent().1.len(), 4);
    let offers: Vec<SourceItem> = (0..9).map(|_| bench.period()).collect();
    let numbered = |number| Some(PacketId { host: HERE, number });
    assert_eq!(
        offers,
        [
            SourceItem::Data(TaggedChar::data(0x81).as_head(), numbered(1)),
            SourceItem::Data(TaggedChar::data(0x05), None),
            SourceItem::Symbol(0x33),
            SourceItem::Symbol(0),
            SourceItem::Data(TaggedChar::data(0x07), None),
            SourceItem::Mark,
            SourceItem::Mark,
            SourceItem::Data(TaggedChar::data(0xff).as_head(), numbered(2)),
            SourceItem::Mark,
        ]
    );
    assert_eq!(bench.sent().1.len(), 4);
    let injected =
        |(number, length, queued)| (Some(number), TruthEventKind::Injected { length, queued });
    let mut rows = [(0, 4, 0), (1, 3, 0), (2, 1, 0), (3, 4, 13)].map(injected).to_vec();
    let text = "81 05 FRES IDLE 07 GAP GAP ff GAP";
    rows.insert(1, (None, TruthEventKind::Raw(text.to_owned())));
    assert_eq!(bench.happened(), rows);
    assert_eq!((bench.interface.statistics().injected, bench.interface.statistics().sent), (4, 2));
}

#[test]
fn after_a_text_that_leaves_a_packet_open_nothing_follows_until_it_is_cut() {
    let streams = vec![stream(ArrivalProcess::Saturating, 1)];
    let mut bench =
        InterfaceBench::new(interface(PARAMETERS, streams, vec![raw(0, data(&[0x81, 5]))]));
    let offers = [bench.period(), bench.period(), bench.period()];
    assert!(matches!(
        offers,
        [SourceItem::Data(_, Some(_)), SourceItem::Data(_, None), SourceItem::Nothing]
    ));
    bench.assert_sends_nothing(100);
    bench.interface.cut();
    assert_eq!(
        bench.sent(),
        (
            103,
            [
                &[0x81, 5][..],
                &payload(HERE, 0, 1),
                &[crc8(&[&[0x81, 5][..], &payload(HERE, 0, 1)].concat())]
            ]
            .concat()
        )
    );
}

#[test]
fn a_text_that_is_cut_goes_on_with_its_next_packet() {
    let text = [data(&[1, 2, 3]), vec![Character::GAP], data(&[4]), vec![Character::GAP]].concat();
    let mut bench = InterfaceBench::new(interface(PARAMETERS, vec![], vec![raw(0, text)]));
    bench.period();
    bench.interface.cut();
    assert_eq!(bench.sent(), (1, vec![4]));
}
