//! Random scenario files that use the keys of all sections, with values up to their limits.

use std::fmt::Write as _;

use crate::rng::Rng;
use crate::scenario::costs::COSTS;
use crate::scenario::endpoints::TRANSPORT;
use crate::scenario::keys::KeyList;
use crate::scenario::mapper::MAPPER;
use crate::scenario::parameters::{INTERFACE, PORT, SWITCH};

/// A line of switches with hosts, with names that need escapes.
struct RandomFile<'r> {
    rng: &'r mut Rng,
    text: String,
    duration: u64,
    switches: u64,
    hosts: u64,
    /// Host, number and segment of each endpoint.
    endpoints: Vec<(u64, u64, u64)>,
}

pub(super) fn text(rng: &mut Rng) -> String {
    let (seed, duration) = (rng.next_u64(), rng.between(1_000, 1 << 40));
    let (switches, hosts) = (rng.between(1, 3), rng.between(2, 5));
    let text = format!("seed = {seed}\nduration_periods = {duration}\n");
    let mut file = RandomFile { rng, text, duration, switches, hosts, endpoints: Vec::new() };
    file.defaults();
    file.network();
    file.routes();
    file.repeat(4, RandomFile::traffic);
    file.repeat(2, RandomFile::raw);
    if file.coin() {
        file.endpoints();
        file.repeat(5, RandomFile::messages);
    }
    file.repeat(7, RandomFile::fault);
    file.taps();
    file.text
}

fn pick<'a>(rng: &mut Rng, all: &[&'a str]) -> &'a str {
    all[usize::try_from(rng.below(all.len() as u64)).unwrap()]
}

fn host_name(host: u64) -> String {
    format!("h\\é{host}")
}

/// Some of the keys of a section other than `without`, one with each separator.
fn some<S: Copy>(rng: &mut Rng, keys: &KeyList<S>, without: &str, separator: &str) -> String {
    let mut text = String::new();
    for key in keys {
        let (name, value) = key.any(rng);
        if name != without && !name.is_empty() && rng.below(3) == 0 {
            let _ = write!(text, "{name} = {value}{separator}");
        }
    }
    text
}

fn size(rng: &mut Rng, least: u64, most: u64) -> String {
    let (a, b) = (rng.between(least, most), rng.between(least, most));
    match rng.below(3) {
        0 => a.to_string(),
        1 => format!("[{}, {}]", a.min(b), a.max(b)),
        _ => {
            let nanos = rng.between(1_000, 999_999_999);
            format!("{{ small = {a}, large = {b}, large_share = 0.{nanos:09} }}")
        }
    }
}

fn arrivals(rng: &mut Rng) -> String {
    let (every, count) = (rng.between(1, 1 << 40), rng.between(1, 1 << 20));
    match rng.below(6) {
        0 => format!("every_periods = {every}"),
        1 => format!("every_periods = {every}\nlaw = 'poisson'"),
        2 => format!("every_periods = {every}\nburst = {count}"),
        3 => "saturate = true".to_owned(),
        4 => format!("window = {count}\nthink_periods = {}", every - 1),
        _ => "load = 0.3".to_owned(),
    }
}

impl RandomFile<'_> {
    fn coin(&mut self) -> bool {
        self.rng.below(2) == 0
    }

    fn repeat(&mut self, most: u64, one: fn(&mut Self)) {
        (0..self.rng.between(0, most)).for_each(|_| one(self));
    }

    fn table(&mut self, title: &str, keys: &str) {
        let _ = writeln!(self.text, "{title}\n{keys}");
    }

    fn port_keys(&mut self, separator: &str) -> String {
        if self.coin() { String::new() } else { some(self.rng, PORT, "", separator) }
    }

    fn defaults(&mut self) {
        let link =
            format!("delay_periods = {}\n", self.rng.between(1, 1 << 20)) + &self.port_keys("\n");
        self.table("[link]", &link);
        let switch = some(self.rng, SWITCH, "", "\n") + &self.port_keys("\n");
        self.table("[switch_defaults]", &switch);
        // Enough for all parts. I-5
        let interface = some(self.rng, INTERFACE, "memory", "\n") + &self.port_keys("\n");
        let interface = format!("memory = {}\n{interface}", 1_u64 << 33);
        self.table("[interface]", &interface);
        let preset = pick(self.rng, &["", "preset = 'gam'\n", "preset = 'nothing'\n"]);
        let costs = preset.to_owned() + &some(self.rng, COSTS, "", "\n");
        self.table("[costs]", &costs);
        // A row for each node. T-3
        let nics = self.rng.between(self.switches + self.hosts, 4_096);
        let transport = format!("nics = {nics}\n{}", some(self.rng, TRANSPORT, "nics", "\n"));
        self.table("[transport]", &transport);
    }

    /// The port of its switch that a host is cabled to.
    fn switch_port(&self, host: u64) -> String {
        format!("s\"{}:{}", host % self.switches, host / self.switches)
    }

    fn network(&mut self) {
        for i in 0..self.switches {
            let ports = self.rng.between(8, 32);
            let keys = some(self.rng, SWITCH, "ports", "\n") + &self.port_keys("\n");
            self.table("[[switch]]", &format!("name = 's\"{i}'\nports = {ports}\n{keys}"));
        }
        let mut cables: Vec<[String; 2]> =
            (1..self.switches).map(|i| [format!("s\"{}:6", i - 1), format!("s\"{i}:7")]).collect();
        for i in 0..self.hosts {
            let mut keys = format!("name = '{}'\n", host_name(i));
            keys += &some(self.rng, INTERFACE, "memory", "\n");
            keys += &self.port_keys("\n");
            match self.rng.below(3) {
                0 => keys += "costs = 'gam'\n",
                1 => keys += &format!("costs = {{ {} }}\n", some(self.rng, COSTS, "", ", ")),
                _ => {}
            }
            let ends = [format!("{}:0", host_name(i)), self.switch_port(i)];
            match self.rng.below(3) {
                0 => keys += &format!("at = '{}'\n{}", ends[1], self.end_keys()),
                1 => cables.push(ends),
                _ => cables.insert(0, [ends[1].clone(), ends[0].clone()]),
            }
            self.table("[[host]]", &keys);
        }
        for [a, b] in cables {
            let keys =
                format!("ends = ['{a}', '{b}']\n{}", self.end_keys()) + &self.port_keys("\n");
            self.table("[[cable]]", &keys);
        }
    }

    /// Keys of the two ends of a cable.
    fn end_keys(&mut self) -> String {
        format!("a = {{ {} }}\nb = {{ {} }}\n", self.port_keys(", "), self.port_keys(", "))
    }

    /// Two different hosts.
    fn pair(&mut self) -> [u64; 2] {
        let from = self.rng.below(self.hosts);
        [from, (from + self.rng.between(1, self.hosts - 1)) % self.hosts]
    }

    fn routes(&mut self) {
        // N-8
        if self.coin() && !self.text.contains("'absolute'") {
            return self.mapper();
        }
        let method = pick(self.rng, &["up-down", "shortest"]);
        self.table("[routes]", &format!("method = '{method}'"));
        let [from, to] = self.pair().map(host_name);
        let bytes =
            (0..self.rng.between(0, 5)).map(|_| format!("{:02x} ", self.rng.between(0x80, 0xff)));
        let bytes: String = bytes.collect();
        self.table("[[route]]", &format!("from = '{from}'\nto = '{to}'\nbytes = '{bytes}'"));
    }

    fn mapper(&mut self) {
        self.table("[routes]", "method = 'mapped'");
        let [who, other] = self.pair().map(host_name);
        let keys = some(self.rng, MAPPER, "", "\n");
        let who = pick(self.rng, &["auto", &who]).to_owned();
        let last = self.rng.between(1, 0xff);
        let addresses = format!("{{ '{other}' = '00:60:dd:00:00:{last:02x}' }}");
        self.table("[mapper]", &format!("{keys}who = '{who}'\naddresses = {addresses}"));
    }

    fn traffic(&mut self) {
        let [from, to] = self.pair().map(host_name);
        let to = [format!("'{to}'"), format!("['{to}']"), "'uniform'".to_owned()];
        let to = &to[usize::try_from(self.rng.below(3)).unwrap()];
        let (tag, start) = (self.rng.below(128), self.rng.below(self.duration));
        let (payload, law) = (size(self.rng, 0, 1 << 20), arrivals(self.rng));
        let packets = self.optional("packets");
        let keys = format!("tag = {tag}\nstart_periods = {start}\npayload = {payload}\n{law}");
        self.table("[[traffic]]", &format!("from = '{from}'\nto = {to}\n{keys}\n{packets}"));
    }

    /// A key with any number, or nothing.
    fn optional(&mut self, key: &str) -> String {
        if self.coin() { String::new() } else { format!("{key} = {}\n", self.rng.next_u64()) }
    }

    fn raw(&mut self) {
        let [from, _] = self.pair().map(host_name);
        let at = self.rng.below(self.duration);
        let chars = (0..self.rng.between(0, 20)).map(|_| {
            let mark = pick(self.rng, &[" ", " !"]);
            format!("{mark}{:02x}", self.rng.below(256))
        });
        let chars: String = chars.collect();
        self.table("[[raw]]", &format!("from = '{from}'\nat_periods = {at}\nchars = '{chars}'"));
    }

    fn endpoints(&mut self) {
        for host in 0..self.hosts {
            for id in 0..self.rng.between(1, 3) {
                let segment = self.rng.between(0, 1 << 20);
                self.endpoints.push((host, id, segment));
                let (key, wake) = (self.optional("key"), pick(self.rng, &["poll", "event"]));
                let keys = format!("segment = {segment}\nwake = '{wake}'\n{key}");
                let name = host_name(host);
                self.table(
                    "[[endpoint]]",
                    &format!("name = 'e{host}.{id}'\nhost = '{name}'\n{keys}"),
                );
            }
        }
    }

    /// Messages from an endpoint to one of another host, which may not exist.
    fn messages(&mut self) {
        let [from, to] = self.pair();
        let number = self.rng.between(0, 3);
        let known = self.endpoints.iter().find(|(host, id, _)| (*host, *id) == (to, number));
        let segment = known.map_or(1 << 24, |(.., segment)| *segment);
        let target = match known {
            Some(_) => format!("'e{to}.{number}'"),
            None => format!("{{ host = '{}', number = {number} }}", host_name(to)),
        };
        let body = match self.rng.below(if segment < 4 { 2 } else { 3 }) {
            0 => format!("words = {}", size(self.rng, 1, 8)),
            1 => format!("kind = 'medium'\nbytes = {}", size(self.rng, 4, 8_192)),
            _ => format!("kind = 'bulk'\nbytes = {}", size(self.rng, 4, segment)),
        };
        let returned = match self.rng.below(3) {
            0 => "'drop'".to_owned(),
            1 => "'again'".to_owned(),
            _ => format!("{{ to = {target} }}"),
        };
        let (law, start) = (arrivals(self.rng), self.rng.below(self.duration));
        let more = self.optional("count") + &self.optional("key");
        let keys = format!("{body}\n{law}\nstart_periods = {start}\nreturned = {returned}\n{more}");
        self.table("[[messages]]", &format!("from = 'e{from}.0'\nto = {target}\n{keys}"));
    }

    fn fault(&mut self) {
        let at = self.rng.below(self.duration);
        let lasts = pick(self.rng, &["", "for_periods = 1\n", "for_periods = 1099511627776\n"]);
        let host = self.rng.below(self.hosts);
        let (host, switch_port) = (host_name(host), self.switch_port(host));
        let port = if self.coin() { format!("{host}:0") } else { switch_port.clone() };
        let errors = pick(self.rng, &["weaken", "flip"]);
        let how = pick(self.rng, &["'always'", "'never'", "'adversary'", "1", "1048576"]);
        let mean = self.rng.between(1, 1 << 40);
        let (bits, small) = (self.rng.between(1, 0x1ff), self.rng.below(8));
        let keys = match self.rng.below(12) {
            0 => {
                format!("noise = '{port}'\nerrors = '{errors}'\nmean_characters = {mean}\n{lasts}")
            }
            1 => format!("open_wire = '{port}'\nwire = {}\n{lasts}", small + bits % 2),
            2 => format!("cut = '{port}'\n{lasts}"),
            3 => format!("lose_gap = '{port}'\n{lasts}"),
            4 => format!("power_off = '{host}'\n{lasts}"),
            5 => format!("dead_port = '{switch_port}'\n{lasts}"),
            6 => format!("consume = '{host}'\nhow = {how}\n{lasts}"),
            7 => format!("flip = '{port}'\nbits = {bits}"),
            8 => format!("forward_reset = '{port}'"),
            9 => format!("backward_reset = '{port}'"),
            10 => format!("probe = '{port}'\nnumber = {small}"),
            _ => format!("restart = '{host}'"),
        };
        self.table("[[fault]]", &format!("at_periods = {at}\n{keys}"));
    }

    fn taps(&mut self) {
        let from = if self.coin() { 0 } else { self.rng.below(self.duration - 1) };
        if self.coin() {
            return self.table("[[tap]]", &format!("all = true\nfrom_periods = {from}"));
        }
        for host in 0..self.hosts {
            let port = if self.coin() { host_name(host) + ":0" } else { self.switch_port(host) };
            let to = self.rng.between(from + 1, self.duration);
            let times = format!("from_periods = {from}\nto_periods = {to}");
            self.table("[[tap]]", &format!("port = '{port}'\n{times}"));
        }
    }
}
