-- Packets between hosts: their number, and the sum and maximum of their latencies, first byte to first byte.
, whole AS (
  SELECT capture, body, payload, copy, first_value(source ORDER BY time_ps) AS source,
         last_value(target ORDER BY time_ps) AS target, max(time_ps) - min(time_ps) AS latency_ps
  FROM seen GROUP BY capture, body, payload, copy
)
SELECT capture, source, target, count(*) AS packets, sum(latency_ps) AS latency_ps, max(latency_ps) AS latency_max_ps
FROM whole GROUP BY capture, source, target ORDER BY capture, source, target
