-- Packets that came to a switch while the packet before them on their output had not left: their number for each
-- output, and the sum of the times until it was free.
SELECT p.capture, p.output, count(*) AS packets, sum(h.end_ps - p.input_ps) AS taken_ps
FROM passages p JOIN seen h
  ON h.capture = p.capture AND h.channel = p.output AND h.packet + 1 = p.output_packet AND h.end_ps > p.input_ps
GROUP BY p.capture, p.output ORDER BY p.capture, p.output
