//! Traffic of hosts: destinations, sizes and times of their packets.

mod arrival_process;

use std::collections::VecDeque;
use std::num::NonZeroU8;

use codec::chars::CharBuf;
use codec::packet::PacketTag;
use codec::time::Ticks;

/// Protocol over IP of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpProtocol {
    /// Datagrams, one for each of the stream's packets.
    Udp,
    /// A connection, into which each of the stream's packets is written.
    Tcp,
}

pub use self::arrival_process::ArrivalProcess;
use crate::node::NodeId;
use crate::packet_types::REQUEST;
use crate::rng::Rng;

/// Minimum payload of a request, in bytes: its host and its number. *Chosen*
pub const CLOSED_BYTES_MIN: u32 = 8;

/// A stream of packets from one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrafficStream {
    /// The sending host.
    pub from: NodeId,
    /// The destination.
    pub to: StreamDestination,
    /// The packet type. P-2
    pub tag: PacketTag,
    /// Protocol over IP, if its packets are the application's data for one. H-1
    pub protocol: Option<IpProtocol>,
    /// Maximum number of copies that each interface sends of a packet for all receivers. N-6
    pub multicast: Option<NonZeroU8>,
    /// Payload size.
    pub payload: PayloadSize,
    /// Sending times.
    pub arrivals: ArrivalProcess,
    /// Start, in periods of the full rate.
    pub start: u64,
    /// Maximum number of packets.
    pub packets: Option<u64>,
    /// The host's commands for them. I-6
    pub command: CommandForm,
}

/// The commands by which a host sends the packets of a stream. I-6
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandForm {
    /// Internet checksum in the last two bytes of the payload. *Chosen*
    pub checksum: ChecksumMode,
    /// Number of the host's blocks that the payload is gathered from.
    pub blocks: u16,
    /// Signal that the packet has been sent.
    pub signal: SignalMode,
}

/// Computation of the Internet checksum of a payload. I-5, H-1
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChecksumMode {
    /// There is none.
    #[default]
    None,
    /// By the host's processor, in a pass of its own.
    Host,
    /// By the interface's DMA engine, while it moves the data.
    Nic,
}

/// Signal of an interface to its host. I-6
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SignalMode {
    /// An acknowledgment in the queue, at which the host looks.
    #[default]
    Poll,
    /// An interrupt too.
    Interrupt,
}

impl Default for CommandForm {
    fn default() -> Self {
        Self { checksum: ChecksumMode::None, blocks: 1, signal: SignalMode::Poll }
    }
}

/// Destination of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamDestination {
    /// One host.
    One(NodeId),
    /// A uniformly random one of these hosts, but never the sender itself. At least one other.
    Among(Vec<NodeId>),
}

/// Distribution of payload sizes, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayloadSize {
    /// A constant size.
    Fixed(u32),
    /// Uniform from the first to the last, inclusive.
    Uniform(u32, u32),
    /// Two sizes.
    Bimodal {
        /// The small size.
        small: u32,
        /// The large size.
        large: u32,
        /// Number of large ones in 65 536.
        share: u16,
    },
}

impl TrafficStream {
    /// The pairs of neighbours in the tree of a multicast, from its root on. Breadth first, in the order of the
    /// receivers: *chosen*. N-6
    pub fn tree(&self) -> Vec<(NodeId, NodeId)> {
        let (Some(fanout), StreamDestination::Among(to)) = (self.multicast, &self.to) else {
            return Vec::new();
        };
        let receivers = to.iter().copied().filter(|to| *to != self.from);
        let order: Vec<NodeId> = std::iter::once(self.from).chain(receivers).collect();
        let parents = order.iter().flat_map(|from| std::iter::repeat_n(*from, fanout.get().into()));
        parents.zip(order.iter().skip(1).copied()).collect()
    }
}

impl PayloadSize {
    /// The largest size.
    pub(crate) fn most(self) -> u32 {
        match self {
            Self::Fixed(size) | Self::Uniform(_, size) => size,
            Self::Bimodal { small, large, .. } => small.max(large),
        }
    }
}

/// Characters that a host sends as they are, valid or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawText {
    /// The host.
    pub from: NodeId,
    /// Earliest time, in periods of the full rate.
    pub at: u64,
    /// The characters. Data and GAP obey flow control, other control codes are sent as they are.
    pub chars: CharBuf,
}

/// Packets of a recording that hosts send again. H-1
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketReplay {
    /// In the order of the file.
    pub packets: Vec<ReplayedPacket>,
    /// Note about packets of the file that are not sent.
    pub note: Option<String>,
}

/// IP packet that a host sends at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayedPacket {
    /// The sending host.
    pub from: NodeId,
    /// The host that gets it.
    pub to: NodeId,
    /// Time, in periods of the full rate.
    pub at: u64,
    /// The host's command for it. I-6
    pub command: CommandForm,
    /// The packet, from its IP header on.
    pub bytes: Vec<u8>,
}

/// A packet drawn from a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DrawnPacket {
    pub(crate) to: NodeId,
    pub(crate) tag: PacketTag,
    /// Bytes of payload.
    pub(crate) length: u32,
    /// Time at which it was due.
    pub(crate) ready: u64,
    pub(crate) form: CommandForm,
}

/// Generator of a stream's packets, which depend on its own random numbers only, and not on the
/// times of the calls.
#[derive(Clone, Debug)]
pub(crate) struct StreamGenerator {
    rng: Rng,
    to: Vec<NodeId>,
    tag: PacketTag,
    multicast: Option<NonZeroU8>,
    payload: PayloadSize,
    arrivals: ArrivalProcess,
    /// Time of the next packet, or of the first requests of a closed loop.
    next: u64,
    /// Packets of the current burst that have been sent.
    sent: u32,
    window: RequestWindow,
    /// Packets left to send.
    left: Option<u64>,
    form: CommandForm,
}

/// The window of a closed loop.
#[derive(Clone, Debug, Default)]
struct RequestWindow {
    /// Places never used.
    fresh: u32,
    /// Times at which the used places become free, in order.
    free: VecDeque<u64>,
    /// Numbers of the requests without an answer.
    unanswered: Vec<u32>,
}

impl StreamGenerator {
    /// Generators of a host's streams, each with random numbers of its own.
    pub(crate) fn each(streams: Vec<TrafficStream>, mut rng: Rng) -> impl Iterator<Item = Self> {
        let seeds = std::iter::repeat_with(move || rng.next_u64());
        streams.into_iter().zip(seeds).map(|(stream, seed)| Self::new(stream, Rng::new(seed, 0)))
    }

    pub(crate) fn new(stream: TrafficStream, mut rng: Rng) -> Self {
        let TrafficStream { from, to, tag, payload, arrivals, start, packets, .. } = stream;
        let form = stream.command;
        let multicast = stream.multicast;
        let to = match to {
            // Its interface sends it on.
            _ if multicast.is_some() => vec![from],
            StreamDestination::One(to) => vec![to],
            StreamDestination::Among(to) => to.into_iter().filter(|to| *to != from).collect(),
        };
        let (mut next, mut window) = (start, RequestWindow::default());
        let tag = match arrivals {
            ArrivalProcess::Closed(places, _) => {
                window.fresh = places.get();
                REQUEST
            }
            ArrivalProcess::Poisson(Ticks(mean)) => {
                next = start.saturating_add(rng.exponential(mean));
                tag
            }
            ArrivalProcess::Constant(_)
            | ArrivalProcess::Bursts(..)
            | ArrivalProcess::Saturating => tag,
        };
        Self {
            rng,
            to,
            tag,
            multicast,
            payload,
            arrivals,
            next,
            sent: 0,
            window,
            left: packets,
            form,
        }
    }

    /// Time of its next packet, if there is one.
    pub(crate) fn due(&self) -> Option<u64> {
        if self.left == Some(0) || self.to.is_empty() {
            return None;
        }
        if self.is_closed() && self.window.fresh == 0 {
            self.window.free.front().copied()
        } else {
            Some(self.next)
        }
    }

    /// Draws the packet that is due, whose command gets this number.
    pub(crate) fn draw(&mut self, now: u64, number: u32) -> Option<DrawnPacket> {
        let to = usize::try_from(self.rng.below(self.to.len() as u64)).ok()?;
        let to = *self.to.get(to)?;
        let length = self.length();
        let ready = self.due_time(now);
        self.left = self.left.map(|left| left.saturating_sub(1));
        self.advance(now, number);
        Some(DrawnPacket { to, tag: self.tag, length, ready, form: self.form })
    }

    /// Time at which the packet drawn now was due. A saturating stream makes it when it is sent.
    fn due_time(&self, now: u64) -> u64 {
        if self.arrivals == ArrivalProcess::Saturating { now } else { self.due().unwrap_or(now) }
    }

    fn length(&mut self) -> u32 {
        let length = match self.payload {
            PayloadSize::Fixed(length) => length,
            PayloadSize::Uniform(first, last) => {
                let length = self.rng.between(first.into(), last.into());
                u32::try_from(length).unwrap_or(last)
            }
            PayloadSize::Bimodal { large, share, .. } if self.rng.chance(share) => large,
            PayloadSize::Bimodal { small, .. } => small,
        };
        // A checksum has its two bytes behind the number.
        let checksum = if self.form.checksum == ChecksumMode::None { 0 } else { 2 };
        if self.is_numbered() { length.max(CLOSED_BYTES_MIN + checksum) } else { length }
    }

    /// True for a closed loop.
    pub(crate) const fn is_closed(&self) -> bool {
        matches!(self.arrivals, ArrivalProcess::Closed(..))
    }

    /// True if payloads begin with the host and the number of its command.
    pub(crate) const fn is_numbered(&self) -> bool {
        self.is_closed() || self.multicast.is_some()
    }

    /// Frees the place of a request that was answered or is lost.
    pub(crate) fn answered(&mut self, now: u64, number: u32) {
        if let ArrivalProcess::Closed(_, Ticks(think)) = self.arrivals
            && let Some(place) = self.window.unanswered.iter().position(|other| *other == number)
        {
            self.window.unanswered.remove(place);
            self.window.free.push_back(now.saturating_add(think));
        }
    }

    /// Gives up all requests without an answer.
    pub(crate) fn forget(&mut self, now: u64) {
        if let ArrivalProcess::Closed(_, Ticks(think)) = self.arrivals {
            let free = now.saturating_add(think);
            self.window.free.extend(self.window.unanswered.drain(..).map(|_| free));
        }
    }

    /// Skips the packets that were due before now.
    pub(crate) fn skip(&mut self, now: u64) {
        if !self.is_closed() && self.next < now {
            (self.next, self.sent) = (now, 0);
        }
    }

    /// Schedules the next packet. A late packet does not delay the following ones: the load stays.
    fn advance(&mut self, now: u64, number: u32) {
        self.next = match self.arrivals {
            ArrivalProcess::Constant(Ticks(period)) => self.next.saturating_add(period.max(1)),
            ArrivalProcess::Poisson(Ticks(mean)) => {
                self.next.saturating_add(self.rng.exponential(mean))
            }
            ArrivalProcess::Bursts(size, Ticks(period)) => {
                self.sent = (self.sent + 1) % size;
                self.next.saturating_add(if self.sent == 0 { period.max(1) } else { 0 })
            }
            // So that others whose time came before come first.
            ArrivalProcess::Saturating => now,
            ArrivalProcess::Closed(..) => {
                if self.window.fresh > 0 {
                    self.window.fresh -= 1;
                } else {
                    self.window.free.pop_front();
                }
                self.window.unanswered.push(number);
                self.next
            }
        };
    }
}

/// Payload of a host's command: a function of the host, the number of the command and the position.
pub fn payload(host: NodeId, number: u32, length: u32) -> Vec<u8> {
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let mut rng = Rng::new(u64::from(host.0), u64::from(number));
    let mut bytes = Vec::with_capacity(length.saturating_add(8));
    while bytes.len() < length {
        bytes.extend_from_slice(&rng.next_u64().to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    fn stream(arrivals: ArrivalProcess) -> TrafficStream {
        TrafficStream {
            from: NodeId(0),
            to: StreamDestination::One(NodeId(1)),
            tag: PacketTag::new(3).unwrap(),
            protocol: None,
            multicast: None,
            payload: PayloadSize::Fixed(10),
            arrivals,
            start: 100,
            packets: None,
            command: CommandForm::default(),
        }
    }

    fn machine(stream: TrafficStream) -> StreamGenerator {
        StreamGenerator::new(stream, Rng::new(7, 0))
    }

    /// The times of the first packets, each drawn when it is due.
    fn times(machine: &mut StreamGenerator, count: u32) -> Vec<u64> {
        let draw = |number| {
            let due = machine.due()?;
            machine.draw(due, number)?;
            Some(due)
        };
        (0..count).map_while(draw).collect()
    }

    fn lengths(payload: PayloadSize) -> Vec<u32> {
        let mut machine = machine(TrafficStream { payload, ..stream(ArrivalProcess::Saturating) });
        (0..10_000).map(|number| machine.draw(100, number).unwrap().length).collect()
    }

    #[test]
    fn constant_arrivals_are_a_period_apart_from_the_start_on() {
        let mut machine = machine(stream(ArrivalProcess::Constant(Ticks(30))));
        assert_eq!(times(&mut machine, 4), [100, 130, 160, 190]);
        assert_eq!(
            machine.draw(1000, 4),
            Some(DrawnPacket {
                to: NodeId(1),
                tag: PacketTag::new(3).unwrap(),
                length: 10,
                ready: 220,
                form: CommandForm::default(),
            })
        );
        // It was due at 220 and drawn late: what follows is not put off.
        assert_eq!(machine.due(), Some(250));
    }

    #[test]
    fn a_period_of_nothing_is_a_period_of_one() {
        let mut constant = machine(stream(ArrivalProcess::Constant(Ticks(0))));
        assert_eq!(times(&mut constant, 3), [100, 101, 102]);
    }

    #[test]
    fn bursts_come_together() {
        let mut machine =
            machine(stream(ArrivalProcess::Bursts(NonZeroU32::new(3).unwrap(), Ticks(50))));
        assert_eq!(times(&mut machine, 7), [100, 100, 100, 150, 150, 150, 200]);
    }

    #[test]
    fn random_arrivals_have_their_mean() {
        let mut machine = machine(stream(ArrivalProcess::Poisson(Ticks(400))));
        let times = times(&mut machine, 10_000);
        assert!(times[0] > 100);
        let mean = (times[9_999] - 100) / 10_000;
        assert!((388..=412).contains(&mean), "{mean}");
        // As random as can be: the deviation is the mean, so that one in e waits longer than it.
        let longer = times.windows(2).filter(|pair| pair[1] - pair[0] > 400).count();
        assert!((3_550..3_810).contains(&longer), "{longer}");
    }

    #[test]
    fn a_saturating_stream_is_always_due() {
        let mut machine = machine(stream(ArrivalProcess::Saturating));
        assert_eq!(machine.due(), Some(100));
        machine.draw(500, 0);
        assert_eq!(machine.due(), Some(500));
    }

    #[test]
    fn a_stream_ends_after_its_packets() {
        let arrivals = ArrivalProcess::Constant(Ticks(1));
        let mut machine = machine(TrafficStream { packets: Some(3), ..stream(arrivals) });
        assert_eq!(times(&mut machine, 9).len(), 3);
        assert_eq!(machine.due(), None);
    }

    #[test]
    fn a_closed_loop_waits_for_answers_and_thinks() {
        let window = NonZeroU32::new(2).unwrap();
        let mut machine = machine(TrafficStream {
            payload: PayloadSize::Fixed(3),
            ..stream(ArrivalProcess::Closed(window, Ticks(20)))
        });
        assert_eq!(machine.due(), Some(100));
        let packet = machine.draw(100, 40).unwrap();
        // A request holds at least its host and its number, whatever is asked for.
        assert_eq!((packet.tag, packet.length), (REQUEST, 8));
        machine.form.checksum = ChecksumMode::Nic;
        assert_eq!(machine.draw(100, 41).unwrap().length, 10, "and a checksum behind them");
        assert_eq!(machine.due(), None);
        machine.answered(300, 39);
        assert_eq!(machine.due(), None, "it has not asked that");
        machine.answered(300, 41);
        machine.answered(310, 41);
        assert_eq!(machine.due(), Some(320));
        machine.draw(320, 42);
        assert_eq!(machine.due(), None, "the same answer twice frees one place");
        machine.forget(400);
        machine.draw(420, 43);
        assert_eq!(machine.due(), Some(420), "both places are free again");
    }

    #[test]
    fn sizes_follow_their_laws() {
        let sizes = lengths(PayloadSize::Uniform(5, 9));
        assert!((5..=9).all(|size| (1_850..2_150).contains(&count(&sizes, size))));
        let sizes = lengths(PayloadSize::Bimodal { small: 64, large: 1500, share: 6_554 });
        let large = count(&sizes, 1500);
        assert!((900..1_100).contains(&large), "{large}");
        assert_eq!(count(&sizes, 64), 10_000 - large);
    }

    fn count(sizes: &[u32], size: u32) -> usize {
        sizes.iter().filter(|other| **other == size).count()
    }

    #[test]
    fn any_destination_is_as_likely_but_never_the_sender() {
        let all = (0..5).map(NodeId).collect();
        let mut machine = machine(TrafficStream {
            to: StreamDestination::Among(all),
            ..stream(ArrivalProcess::Saturating)
        });
        let mut counts = [0; 5];
        for number in 0..10_000 {
            counts[machine.draw(100, number).unwrap().to.0 as usize] += 1;
        }
        assert_eq!(counts[0], 0);
        assert!(counts[1..].iter().all(|count| (2_350..2_650).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_stream_without_destination_sends_nothing() {
        let to = StreamDestination::Among(vec![NodeId(0)]);
        assert_eq!(machine(TrafficStream { to, ..stream(ArrivalProcess::Saturating) }).due(), None);
    }

    #[test]
    fn what_was_due_without_power_is_not_sent_later() {
        let mut constant = machine(stream(ArrivalProcess::Constant(Ticks(30))));
        constant.skip(1000);
        assert_eq!(times(&mut constant, 2), [1000, 1030]);
        let mut bursts =
            machine(stream(ArrivalProcess::Bursts(NonZeroU32::new(2).unwrap(), Ticks(30))));
        bursts.draw(100, 0);
        bursts.skip(1000);
        assert_eq!(times(&mut bursts, 3), [1000, 1000, 1030]);
        let mut later = machine(stream(ArrivalProcess::Constant(Ticks(30))));
        later.skip(50);
        assert_eq!(later.due(), Some(100));
    }
}
