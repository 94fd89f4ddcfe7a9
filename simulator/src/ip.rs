//! IP over Myrinet: the stack of a host, which is smoltcp's. H-1
//!
//! A packet of type [`codec::ip::TAG`] carries an IP packet. *Chosen*: a host has the address
//! 10.0.0.1 and its number; the stream with a number has this number from 1024 on as its receiver's
//! port, and from 32 768 on as its sender's. The stack's clock counts whole microseconds.

mod packet_queue;
mod sent_bytes;

use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::socket::{tcp, udp};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr, IpEndpoint, Ipv4Address, Ipv4Packet};

use self::packet_queue::PacketQueue;
pub(crate) use self::sent_bytes::SentBytes;
use crate::messaging::MICROSECOND;
use crate::node::NodeId;
use crate::rng::Rng;
use crate::traffic::{
    CommandForm, IpProtocol, StreamDestination, StreamGenerator, TrafficStream, payload,
};

/// Maximum number of streams, each with a port. *Chosen*
pub(crate) const STREAMS_MAX: usize = 1 << 14;
/// Maximum payload of a UDP datagram, and maximum bytes of a write to TCP.
pub(crate) const DATAGRAM_MAX: u32 = 65_507;
/// Bytes of each buffer of a socket. *Chosen*: the longest window without scaling, two datagrams.
const BUFFER: usize = 1 << 17;
const WINDOW: usize = 65_535;
/// Received packets that wait for the stack; further ones are lost. *Chosen*
const WAITING_MAX: usize = 64;
const HOSTS: u32 = 0x0a00_0001;
const PORTS: [u16; 2] = [1024, 32_768];

/// Work of the host's processor for a packet or a call, and what has become of it.
#[derive(Debug, Default)]
pub(crate) struct StackWork {
    /// An IP packet to send.
    pub(crate) packet: Option<(NodeId, CommandForm, Vec<u8>)>,
    /// Bytes of each call that has written or read.
    pub(crate) calls: Vec<usize>,
    /// Bytes that have reached their receiver.
    pub(crate) delivered: u64,
}

/// The stack of a host and its ends of streams.
pub(crate) struct IpStack {
    host: NodeId,
    interface: Interface,
    sockets: SocketSet<'static>,
    device: PacketQueue,
    ends: Vec<StreamEnd>,
    /// Command of the last first fragment.
    fragmented: CommandForm,
    due: u64,
}

/// A host's end of a stream.
struct StreamEnd {
    socket: SocketHandle,
    protocol: IpProtocol,
    peer: NodeId,
    form: CommandForm,
    /// Ports of the receiver and of the sender.
    ports: [u16; 2],
    /// None at the receiver.
    writer: Option<StreamWriter>,
}

struct StreamWriter {
    generator: StreamGenerator,
    number: u32,
    /// The datagram, or the bytes of a write, that the socket has no room for yet.
    rest: Vec<u8>,
}

impl IpStack {
    /// The stack of a host, if it sends or receives one of these numbered streams.
    pub(crate) fn new<'a>(
        host: NodeId,
        mtu: u16,
        streams: impl Iterator<Item = (usize, &'a TrafficStream)>,
        mut rng: Rng,
    ) -> Option<Box<Self>> {
        let mut sockets = SocketSet::new(Vec::new());
        let ends: Vec<_> = streams
            .filter_map(|(number, stream)| {
                StreamEnd::new(host, (number, stream), &mut sockets, &mut rng)
            })
            .collect();
        if ends.is_empty() {
            return None;
        }
        let mut device = PacketQueue::new(mtu);
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = rng.next_u64();
        let mut interface = Interface::new(config, &mut device, Instant::ZERO);
        interface.update_ip_addrs(|list| {
            // There is room for one.
            list.push(IpCidr::new(address(host).into(), 8)).ok();
        });
        let fragmented = CommandForm::default();
        Some(Box::new(Self { host, interface, sockets, device, ends, fragmented, due: 0 }))
    }

    /// Time of its next step.
    pub(crate) const fn due(&self) -> u64 {
        self.due
    }

    /// Takes a received IP packet.
    pub(crate) fn arrived(&mut self, now: u64, packet: Vec<u8>) {
        if self.device.received.len() < WAITING_MAX {
            self.device.received.push_back(packet);
            self.due = now;
        }
    }

    /// Skips what the streams had to write before now, without power.
    pub(crate) fn skip(&mut self, now: u64) {
        let writers = self.ends.iter_mut().filter_map(|end| end.writer.as_mut());
        writers.for_each(|writer| writer.generator.skip(now));
    }

    /// Processes received packets and timers, and makes at most one packet to send.
    pub(crate) fn step(&mut self, now: u64) -> StackWork {
        let mut work = StackWork::default();
        if now < self.due {
            return work;
        }
        let micros = i64::try_from(now / MICROSECOND).unwrap_or(i64::MAX);
        let time = Instant::from_micros(micros);
        let Self { host, interface, sockets, device, ends, fragmented, .. } = self;
        interface.poll(time, device, sockets);
        let packet = device.sending.take();
        for end in &mut *ends {
            end.serve(now, (*host, interface), sockets, &mut work);
        }
        work.packet = packet.and_then(|packet| {
            let header = Ipv4Packet::new_checked(&packet[..]).ok()?;
            let to = host_of(header.dst_addr())?;
            let form = command_form(ends, fragmented, to, &header)?;
            Some((to, form, packet))
        });
        let timer = interface
            .poll_at(time, sockets)
            .map(|at| u64::try_from(at.total_micros()).unwrap_or(0).saturating_mul(MICROSECOND));
        let idle = work.packet.is_none() && work.calls.is_empty() && device.received.is_empty();
        // A stack that has nothing to do now waits for the next tick of its clock at least.
        let soonest = now.saturating_add(if idle { MICROSECOND } else { 1 });
        let timer = timer.map(|timer| timer.max(soonest));
        // The stack takes no further packet while it has one to send.
        let waiting = (!device.received.is_empty()).then_some(soonest);
        let ends = ends.iter().filter_map(|end| end.due(sockets)).map(|due| due.max(now + 1));
        self.due = ends.chain(timer).chain(waiting).min().unwrap_or(u64::MAX);
        work
    }
}

impl StreamEnd {
    fn new(
        host: NodeId,
        (number, stream): (usize, &TrafficStream),
        sockets: &mut SocketSet<'static>,
        rng: &mut Rng,
    ) -> Option<Self> {
        let protocol = stream.protocol?;
        let StreamDestination::One(to) = stream.to else { return None };
        let number = u16::try_from(number).ok()?;
        let ports = PORTS.map(|first| first.saturating_add(number));
        let (peer, port, writer) = if stream.from == host {
            let generator = StreamGenerator::new(stream.clone(), Rng::new(rng.next_u64(), 0));
            (to, ports[1], Some(StreamWriter { generator, number: 0, rest: Vec::new() }))
        } else if to == host {
            (stream.from, ports[0], None)
        } else {
            return None;
        };
        let socket = match protocol {
            IpProtocol::Udp => {
                let buffer = || {
                    let places = vec![udp::PacketMetadata::EMPTY; WAITING_MAX];
                    udp::PacketBuffer::new(places, vec![0; BUFFER])
                };
                let mut socket = udp::Socket::new(buffer(), buffer());
                // A fresh socket, and no port is 0.
                socket.bind(port).ok();
                sockets.add(socket)
            }
            IpProtocol::Tcp => {
                let buffer = || tcp::SocketBuffer::new(vec![0; WINDOW]);
                let mut socket = tcp::Socket::new(buffer(), buffer());
                if writer.is_none() {
                    // Likewise.
                    socket.listen(port).ok();
                }
                sockets.add(socket)
            }
        };
        Some(Self { socket, protocol, peer, form: stream.command, ports, writer })
    }

    /// Ports of the sender and of the receiver in the packets that it sends.
    const fn sent_ports(&self) -> [u16; 2] {
        let [receiver, sender] = self.ports;
        if self.writer.is_some() { [sender, receiver] } else { [receiver, sender] }
    }

    /// Time of its next write, if there is room for it. A datagram that has found no room is tried
    /// again whenever the stack sends one.
    fn due(&self, sockets: &SocketSet<'_>) -> Option<u64> {
        let writer = self.writer.as_ref()?;
        let room = match self.protocol {
            IpProtocol::Udp => {
                let socket = sockets.get::<udp::Socket<'_>>(self.socket);
                socket.can_send() && writer.rest.is_empty()
            }
            IpProtocol::Tcp => {
                let socket = sockets.get::<tcp::Socket<'_>>(self.socket);
                socket.can_send() || socket.state() == tcp::State::Closed
            }
        };
        let due = if writer.rest.is_empty() { writer.generator.due() } else { Some(0) };
        due.filter(|_| room)
    }

    /// Writes what is due, and reads what has arrived.
    fn serve(
        &mut self,
        now: u64,
        (host, interface): (NodeId, &mut Interface),
        sockets: &mut SocketSet<'_>,
        work: &mut StackWork,
    ) {
        let to = IpEndpoint::new(IpAddress::Ipv4(address(self.peer)), self.ports[0]);
        match (self.protocol, &mut self.writer) {
            (IpProtocol::Udp, Some(writer)) => {
                let socket = sockets.get_mut::<udp::Socket<'_>>(self.socket);
                // It has a place for another datagram, but perhaps not for its bytes.
                while socket.can_send() {
                    if writer.rest.is_empty() {
                        let Some(datagram) = writer.draw(host, now) else { break };
                        writer.rest = datagram;
                    }
                    if socket.send_slice(&writer.rest, to).is_err() {
                        break;
                    }
                    work.calls.push(writer.rest.len());
                    writer.rest.clear();
                }
            }
            (IpProtocol::Udp, None) => {
                let socket = sockets.get_mut::<udp::Socket<'_>>(self.socket);
                while let Ok((datagram, _)) = socket.recv() {
                    work.calls.push(datagram.len());
                    work.delivered += datagram.len() as u64;
                }
            }
            (IpProtocol::Tcp, Some(writer)) => {
                let socket = sockets.get_mut::<tcp::Socket<'_>>(self.socket);
                let due = writer.generator.due();
                let is_due = !writer.rest.is_empty() || due.is_some_and(|due| due <= now);
                if socket.state() == tcp::State::Closed && is_due {
                    // The ports are not 0, and the socket is closed.
                    socket.connect(interface.context(), to, self.ports[1]).ok();
                }
                writer.write(socket, (host, now), work);
            }
            (IpProtocol::Tcp, None) => {
                let socket = sockets.get_mut::<tcp::Socket<'_>>(self.socket);
                while let Ok(count @ 1..) = socket.recv(|bytes| (bytes.len(), bytes.len())) {
                    work.calls.push(count);
                    work.delivered += count as u64;
                }
                match socket.state() {
                    tcp::State::CloseWait => socket.close(),
                    // The next connection of the sender, after a reset.
                    tcp::State::Closed => drop(socket.listen(self.ports[0])),
                    tcp::State::Listen
                    | tcp::State::SynSent
                    | tcp::State::SynReceived
                    | tcp::State::Established
                    | tcp::State::FinWait1
                    | tcp::State::FinWait2
                    | tcp::State::Closing
                    | tcp::State::LastAck
                    | tcp::State::TimeWait => {}
                }
            }
        }
    }
}

impl StreamWriter {
    /// The bytes of the stream's next packet, if it is due.
    fn draw(&mut self, host: NodeId, now: u64) -> Option<Vec<u8>> {
        self.generator.due().filter(|due| *due <= now)?;
        let packet = self.generator.draw(now, self.number)?;
        self.number = self.number.wrapping_add(1);
        Some(payload(host, self.number, packet.length))
    }

    fn write(
        &mut self,
        socket: &mut tcp::Socket<'_>,
        (host, now): (NodeId, u64),
        work: &mut StackWork,
    ) {
        while socket.can_send() {
            if self.rest.is_empty() {
                let Some(bytes) = self.draw(host, now).filter(|bytes| !bytes.is_empty()) else {
                    break;
                };
                work.calls.push(bytes.len());
                self.rest = bytes;
            }
            let count = socket.send_slice(&self.rest).unwrap_or(0);
            self.rest.drain(..count);
        }
        if self.rest.is_empty() && self.number > 0 && self.generator.due().is_none() {
            socket.close();
        }
    }
}

/// The command for a packet: that of its stream. Fragments without ports follow the first one, and what
/// belongs to no stream goes as the first stream of the two hosts.
fn command_form(
    ends: &[StreamEnd],
    fragmented: &mut CommandForm,
    to: NodeId,
    packet: &Ipv4Packet<&[u8]>,
) -> Option<CommandForm> {
    if packet.frag_offset() > 0 {
        return Some(*fragmented);
    }
    let ports = match (u8::from(packet.next_header()), packet.payload()) {
        (6 | 17, [a, b, c, d, ..]) => Some([[*a, *b], [*c, *d]].map(u16::from_be_bytes)),
        _ => None,
    };
    let ends = || ends.iter().filter(|end| end.peer == to);
    let own = ends().find(|end| ports == Some(end.sent_ports()));
    let form = own.or_else(|| ends().next())?.form;
    if packet.more_frags() {
        *fragmented = form;
    }
    Some(form)
}

/// Leaves the checksum of UDP or TCP to the interface: its place in the packet, with the sum of the
/// pseudo header in it. The header's own sum is zero. None for fragments.
pub(crate) fn checksum_place(packet: &mut [u8]) -> Option<usize> {
    let header = Ipv4Packet::new_checked(&*packet).ok()?;
    if header.more_frags() || header.frag_offset() > 0 {
        return None;
    }
    let field = match u8::from(header.next_header()) {
        6 => 16,
        17 => 6,
        _ => return None,
    };
    let place = usize::from(header.header_len()) + field;
    let ends = [header.src_addr(), header.dst_addr()].map(Ipv4Address::to_bits);
    let length = header.total_len() - u16::from(header.header_len());
    let protocol = u8::from(header.next_header());
    let words = ends.iter().map(|address| (address >> 16) + (address & 0xffff));
    let sum = words.sum::<u32>() + u32::from(length) + u32::from(protocol);
    // At most seven words: two folds.
    let fold = |sum: u32| (sum >> 16) + (sum & 0xffff);
    let [.., high, low] = fold(fold(sum)).to_be_bytes();
    packet.get_mut(place..)?.first_chunk_mut().map(|checksum| *checksum = [high, low])?;
    Some(place)
}

/// Address of a host. *Chosen*
fn address(host: NodeId) -> Ipv4Address {
    Ipv4Address::from_bits(HOSTS.saturating_add(host.0))
}

fn host_of(address: Ipv4Address) -> Option<NodeId> {
    address.to_bits().checked_sub(HOSTS).map(NodeId)
}

impl std::fmt::Debug for IpStack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IpStack").field("due", &self.due).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use codec::time::Ticks;

    use super::*;
    use crate::packet_types::IP;
    use crate::traffic::{ArrivalProcess, PayloadSize};

    /// The stack of the sender, 0, or of the receiver, 1, of streams with these commands.
    fn stack(host: u32, mtu: u16, commands: &[CommandForm]) -> Box<IpStack> {
        let stream = |command: &CommandForm| TrafficStream {
            from: NodeId(0),
            to: StreamDestination::One(NodeId(1)),
            tag: IP,
            protocol: Some(IpProtocol::Udp),
            multicast: None,
            payload: PayloadSize::Fixed(100),
            arrivals: ArrivalProcess::Constant(Ticks(1_000_000)),
            start: 0,
            packets: None,
            command: *command,
        };
        let streams: Vec<_> = commands.iter().map(stream).collect();
        IpStack::new(NodeId(host), mtu, streams.iter().enumerate(), Rng::new(1, 0)).unwrap()
    }

    /// The packets of a stack that steps when it is due, before a time.
    fn packets(stack: &mut IpStack, until: u64) -> Vec<(CommandForm, Vec<u8>)> {
        let mut packets = Vec::new();
        while stack.due() < until {
            packets.extend(stack.step(stack.due()).packet.map(|(_, form, packet)| (form, packet)));
        }
        packets
    }

    /// The receiver has no such port, and answers each datagram with an ICMP packet (RFC 1122).
    #[test]
    fn packets_that_arrive_together_are_answered_one_after_the_other() {
        let form = CommandForm::default();
        let sent = packets(&mut stack(0, 1500, &[form; 3]), 1000);
        let mut receiver = stack(1, 1500, &[form]);
        assert!(packets(&mut receiver, 1000).is_empty());
        for (_, packet) in sent {
            receiver.arrived(1000, packet);
        }
        assert_eq!(packets(&mut receiver, 2000).len(), 2);
    }

    /// Each datagram of 108 bytes has fragments of 48.
    #[test]
    fn a_packet_goes_by_the_command_of_its_stream() {
        let forms = [1, 2, 3].map(|blocks| CommandForm { blocks, ..CommandForm::default() });
        let packets = packets(&mut stack(0, 68, &forms), 1000);
        let blocks: Vec<_> = packets.iter().map(|(form, _)| form.blocks).collect();
        assert_eq!(blocks, [1, 1, 1, 2, 2, 2, 3, 3, 3]);
    }

    /// The sum of UDP and TCP is over a whole datagram, which no fragment has. RFC 791
    #[test]
    fn the_checksum_of_a_datagram_has_a_place_and_that_of_a_fragment_has_none() {
        for header in [20_u8, 24, 60] {
            for (protocol, field) in [(6, Some(16)), (17, Some(6)), (1, None)] {
                for (fragment, is_whole) in
                    [(0_u16, true), (0x4000, true), (0x2000, false), (1, false), (0x2001, false)]
                {
                    let length = header + 40;
                    let mut packet = vec![0; length.into()];
                    packet[0] = 0x40 + header / 4;
                    (packet[3], packet[9]) = (length, protocol);
                    packet[6..8].copy_from_slice(&fragment.to_be_bytes());
                    let expected = field.filter(|_| is_whole).map(|at| usize::from(header) + at);
                    let found = checksum_place(&mut packet);
                    assert_eq!(found, expected, "{protocol} {fragment:#x} behind {header}");
                }
            }
        }
    }
}
