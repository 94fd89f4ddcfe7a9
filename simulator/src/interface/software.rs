//! Software of a host above its interface: calls, copies, driver, IP. H-1, H-2

use codec::packet::Packet;

use super::HostInterface;
use super::checksum::InternetChecksum;
use super::queues::SendCommand;
use super::traffic_host::{HostPeriod, TrafficHost};
use crate::ip::{IpStack, SentBytes, checksum_place};
use crate::messaging::BURST;
use crate::packet_types::{IP, PacketRoutine};
use crate::traffic::{ChecksumMode, DrawnPacket, ReplayedPacket, SignalMode};
use crate::truth::TruthEventKind;

impl HostInterface {
    /// Adds a stack for IP to its host.
    pub(crate) fn with_ip(mut self, stack: Option<Box<IpStack>>) -> Self {
        self.host.sent = stack.as_ref().map(|_| SentBytes::default());
        self.host.ip = stack;
        self
    }

    /// Adds packets of recordings, in order of time.
    pub(crate) fn with_replay(mut self, packets: Vec<ReplayedPacket>) -> Self {
        if !packets.is_empty() {
            self.host.sent.get_or_insert_default();
        }
        self.host.replay = packets.into();
        self
    }
}

impl TrafficHost {
    /// Spends the time of an application's call.
    pub(super) const fn call(&self, bytes: usize, period: &mut HostPeriod<'_>) {
        let touched = &mut period.statistics.touched;
        touched.application += bytes as u64;
        touched.copied += self.costs.copied(bytes);
        period.work(self.costs.call(bytes));
    }

    /// Spends the time of a packet sent or received, and of its checksum.
    pub(super) fn packet(&self, bytes: usize, checksum: ChecksumMode, period: &mut HostPeriod<'_>) {
        let bytes = bytes as u64;
        period.statistics.touched.bus += bytes;
        period.work(self.costs.packet());
        if checksum == ChecksumMode::Host {
            period.statistics.touched.summed += bytes;
            period.work(self.costs.checksum.saturating_mul(bytes.div_ceil(BURST)));
        }
    }

    /// Spends the time of a received packet, whose checksum the interface has computed.
    pub(super) fn receive(
        &self,
        routine: PacketRoutine,
        bytes: usize,
        period: &mut HostPeriod<'_>,
    ) {
        self.packet(bytes, ChecksumMode::Nic, period);
        // The stack has calls of its own.
        if routine != PacketRoutine::Ip {
            self.call(bytes, period);
        }
    }

    /// The event of a packet that leaves, if it is one of the IP stack or of a recording.
    pub(super) fn label(&mut self, bytes: &[u8]) -> Option<TruthEventKind> {
        let packet = Packet::parse(bytes);
        let sent = self.sent.as_mut().filter(|_| packet.tag == Some(IP))?;
        sent.label(packet.payload).map(|label| TruthEventKind::IpTransmitted(Box::new(label)))
    }

    /// Lets the IP stack work; returns the command for its next packet.
    pub(super) fn step_ip(&mut self, period: &mut HostPeriod<'_>) -> Option<SendCommand> {
        let work = self.ip.as_mut()?.step(period.now);
        work.calls.iter().for_each(|bytes| self.call(*bytes, period));
        period.statistics.ip_bytes += work.delivered;
        let (to, form, mut body) = work.packet?;
        let place = match form.checksum {
            ChecksumMode::Nic => checksum_place(&mut body),
            ChecksumMode::Host | ChecksumMode::None => None,
        };
        let by = if place.is_some() { ChecksumMode::Nic } else { ChecksumMode::Host };
        self.packet(body.len(), by, period);
        let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
        let packet = DrawnPacket { to, tag: IP, length, ready: period.now, form };
        let number = self.next_number();
        Some(gathered(number, packet, (&body, 0), place))
    }

    /// The command for the next packet of a recording, if it is due. *Chosen*: no application calls.
    pub(super) fn step_replay(&mut self, period: &mut HostPeriod<'_>) -> Option<SendCommand> {
        let ReplayedPacket { to, at, command: form, mut bytes, .. } =
            self.replay.pop_front_if(|packet| packet.at <= period.now)?;
        let place = match form.checksum {
            ChecksumMode::None => None,
            ChecksumMode::Nic => checksum_place(&mut bytes),
            ChecksumMode::Host => {
                let place = checksum_place(&mut bytes);
                let sum = InternetChecksum::of(&bytes);
                place.into_iter().for_each(|place| sum.insert(&mut bytes, place));
                None
            }
        };
        self.packet(bytes.len(), form.checksum, period);
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let packet = DrawnPacket { to, tag: IP, length, ready: at, form };
        Some(gathered(self.next_number(), packet, (&bytes, 0), place))
    }
}

/// The command for a packet, of whose payload `first` bytes are a block of their own.
pub(super) fn gathered(
    number: u32,
    packet: DrawnPacket,
    (body, first): (&[u8], usize),
    checksum: Option<usize>,
) -> SendCommand {
    let DrawnPacket { to, tag, ready, form, .. } = packet;
    let (first, rest) = body.split_at(first.min(body.len()));
    let block = rest.len().div_ceil(form.blocks.into()).max(1);
    let gather = std::iter::once(first).chain(rest.chunks(block)).map(<[u8]>::to_vec);
    let gather = gather.filter(|block| !block.is_empty()).collect();
    let interrupt = form.signal == SignalMode::Interrupt;
    SendCommand { number, gather, checksum, to, tag, ready, interrupt }
}
