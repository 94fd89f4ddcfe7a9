-- Passages of packets through switches.
SELECT capture, input, input_packet, output, output_packet, output_ps - input_ps AS latency_ps
FROM passages ORDER BY capture, output, output_packet
