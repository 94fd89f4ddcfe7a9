-- A packet on the channels at both sides of a switch: its contents between route and CRC byte are the same, and its
-- route is a byte shorter. Packets of equal contents are told apart by their order on each channel.
WITH seen AS (
  SELECT capture, channel, packet, time_ps, end_ps, body, payload, coalesce(cardinality(route), 0) AS bytes,
         regexp_replace(split_part(channel, '>', 1), ':[0-9]+$', '') AS source,
         regexp_replace(split_part(channel, '>', 2), ':[0-9]+$', '') AS target,
         row_number() OVER (PARTITION BY capture, channel, body, payload ORDER BY packet) AS copy
  FROM packets
),
passages AS (
  SELECT i.capture, i.channel AS input, i.packet AS input_packet, i.time_ps AS input_ps,
         o.channel AS output, o.packet AS output_packet, o.time_ps AS output_ps
  FROM seen i JOIN seen o
    ON i.capture = o.capture AND i.target = o.source AND i.body = o.body AND i.payload = o.payload
   AND i.bytes = o.bytes + 1 AND i.copy = o.copy AND i.time_ps < o.time_ps
)
