//! The event engine gives what the stepper gives: captures, truth, counters. Random networks, with
//! parameters so small that everything happens often.

use crate::support;

use std::fmt::Write;

use myriscope_simulator::clock::NodeClock;
use myriscope_simulator::network::SimulationEngine;
use myriscope_simulator::scenario::Scenario;
use myriscope_simulator::truth::TraceLevel;
use support::{RunWay, TestRun};

fn check(text: &str, scenario: &Scenario, seed: u64) -> usize {
    let level = if seed.is_multiple_of(3) { TraceLevel::Nothing } else { TraceLevel::Everything };
    let [step, event] = [SimulationEngine::Step, SimulationEngine::Event].map(|engine| {
        let way = RunWay { level, slice: 777, ..RunWay::by(engine) };
        TestRun::finished(scenario.clone(), way)
    });
    step.assert_same(&event, &format!("{text}\nseed {seed}"));
    let hosts = scenario.topology.hosts();
    let received = hosts.map(|host| step.statistics(step.node(host)).received);
    usize::try_from(received.sum::<u64>()).unwrap()
}

const PROFILE: &str = "profile = 'VC0=50,VC1=51,GO1=60,STOP1=6f'\n";
const PROFILE_OF_THREE: &str =
    "profile = 'VC0=50,VC1=51,VC2=52,GO0=61,GO1=62,GO2=64,STOP1=68,STOP2=70'\ndateline = true\n";

/// Random choices: `SplitMix64`.
struct RandomChoices(u64);

impl RandomChoices {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ bits >> 31) % end
    }

    fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values.get(usize::try_from(self.below(values.len() as u64)).unwrap()).copied().unwrap()
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn port_keys(&mut self) -> String {
        let mut keys = String::new();
        let mut add = |key: &str, value: u64| writeln!(keys, "{key} = {value}").unwrap();
        add("go_slack", self.one_of(&[1, 1, 2, 3, 4, 8, 32, 60]));
        add("hysteresis", self.one_of(&[1, 1, 2, 5, 16, 40]));
        add("stop_slack", self.one_of(&[1, 4, 16, 32, 40, 90]));
        add("generation_periods", self.one_of(&[0, 1, 2, 2, 5, 15]));
        add("interpretation_periods", self.one_of(&[0, 1, 2, 2, 5, 15]));
        add("blocked_periods", self.one_of(&[40, 300, 900, 4_000, 1 << 22]));
        let fill = self.one_of(&["chip", "chip", "chip", "stop-go", "gap", "idle-5"]);
        let framing = self.one_of(&["free", "free", "waits"]);
        let reset = self.one_of(&["own-gap", "next-gap"]);
        let symbols = self.one_of(&["all", "mandatory"]);
        write!(keys, "fill = '{fill}'\nframing = '{framing}'\n").unwrap();
        write!(keys, "reset = '{reset}'\nsymbols = '{symbols}'\n").unwrap();
        keys
    }

    /// Two or three switches with a fibre between two of them, and perhaps a cable with virtual channels.
    fn fibre(&mut self) -> String {
        let (mode, length) = (self.one_of(&["bridge", "bridge", "router"]), 1 + self.below(20));
        let cable = |ends: [&str; 2], more: &str| {
            format!("[[cable]]\nends = ['{}', '{}']\n{more}", ends[0], ends[1])
        };
        let mut text = format!(
            "[[switch]]\nname = 's0'\n[[switch]]\nname = 's1'\n[[switch]]\nname = 's2'\n\
             [[fibre]]\nname = 'f'\nlength_km = 0.{length:03}\nmode = '{mode}'\n"
        );
        text += &cable(["s0:7", "f.0:0"], "");
        text += &cable(["f.1:0", "s1:7"], "");
        text += &cable(["s1:6", "s2:6"], self.one_of(&["", PROFILE, PROFILE]));
        for host in 0..2 + self.below(4) {
            let switch = host % 3;
            write!(text, "[[host]]\nname = 'h{host}'\nat = 's{switch}:{host}'\n").unwrap();
        }
        text
    }

    fn topology(&mut self) -> String {
        let shape = match self.below(5) {
            0 => format!("kind = 'switch'\nports = 8\nhosts = {}", 2 + self.below(5)),
            1 => format!("kind = 'line'\nswitches = {}\nhosts_per_switch = 2", 1 + self.below(4)),
            2 => format!("kind = 'ring'\nswitches = {}", 3 + self.below(3)),
            3 => format!("kind = 'mesh'\nwidth = {}\nheight = 2", 2 + self.below(2)),
            _ => {
                let (hosts, links) = (2 + self.below(4), self.below(3));
                format!(
                    "kind = 'random'\nswitches = 3\nhosts = {hosts}\nports = 8\nlinks = {links}"
                )
            }
        };
        format!("[topology]\n{shape}\n")
    }

    fn traffic(&mut self) -> String {
        let most = self.one_of(&[3, 20, 20, 100, 400, 1500]);
        let pace = match self.below(4) {
            0 => "saturate = true".to_owned(),
            1 => format!("every_periods = {}\nlaw = 'poisson'", 40 + self.below(1500)),
            2 => format!("load = 0.{}", 1 + self.below(8)),
            _ => format!("every_periods = {}", 60 + self.below(900)),
        };
        format!("[[traffic]]\nto = 'uniform'\npayload = [0, {most}]\n{pace}\n")
    }

    fn fault(&mut self) -> String {
        let what = match self.below(18) {
            0 => format!("noise = 'any'\nmean_characters = {}", 20 + self.below(3000)),
            1 => "flip = 'any'\nbits = 0x100".to_owned(),
            2 => format!("open_wire = 'any'\nwire = {}\nfor_periods = 90", self.below(9)),
            3 => "cut = 'any'\nfor_periods = 80".to_owned(),
            4 => "lose_gap = 'any'".to_owned(),
            5 => "forward_reset = 'any'".to_owned(),
            6 => "backward_reset = 'any'".to_owned(),
            7 => "probe = 'any'".to_owned(),
            8 => "power_off = 'any'\nfor_periods = 200".to_owned(),
            9 => "dead_port = 'any'\nfor_periods = 200".to_owned(),
            10 => "restart = 'any'".to_owned(),
            13 => format!("glitch = 'any'\nwire = {}\nwidth_ns = 8.1", self.below(9)),
            14 => format!("missed_transition = 'any'\nwire = {}", self.below(9)),
            15 => "short = 'any'\nwires = [0, 8]\nfor_periods = 90".to_owned(),
            16 => format!(
                "crosstalk = 'any'\nfrom_wire = 2\nwire = {}\nmean_transitions = 9\nfor_periods = 400",
                self.below(9)
            ),
            17 => "slow_edge = 'any'\nwire = 2\nlate_ns = 40\nfor_periods = 300".to_owned(),
            11 => format!("consume = 'h1'\nhow = {}\nfor_periods = 700", 2 + self.below(30)),
            _ => "consume = 'h0'\nhow = 'adversary'\nfor_periods = 900".to_owned(),
        };
        let when = if what.starts_with("consume") {
            format!("at_periods = {}", self.below(3000))
        } else {
            format!("every_periods = {}", 400 + self.below(3000))
        };
        format!("[[fault]]\n{when}\n{what}\n")
    }

    fn over_ip(&mut self) -> String {
        let (proto, payload) = (self.one_of(&["udp", "tcp"]), 1 + self.below(400));
        format!(
            "[[ip]]\nproto = '{proto}'\nfrom = 'h0'\nto = 'h1'\npayload = {payload}\nevery_us = 4\n"
        )
    }

    fn mapping(&mut self) -> String {
        let (period, timeout) = (self.one_of(&[20, 60, 200]), self.one_of(&[3, 5, 12]));
        format!(
            "[routes]\nmethod = 'mapped'\n[mapper]\nperiod_us = {period}\ntimeout_us = {timeout}\n"
        )
    }

    fn endpoints(&mut self) -> String {
        let bytes = self.one_of(&[16, 300, 2000]);
        format!(
            "[transport]\nscan_us = 5\ntimeout_us = 15\n[[endpoint]]\nname = 'a'\nhost = 'h0'\n\
             [[endpoint]]\nname = 'b'\nhost = 'h1'\n[[messages]]\nfrom = 'a'\nto = 'b'\n\
             kind = 'medium'\nbytes = [4, {bytes}]\nevery_us = 20\n"
        )
    }

    /// Gives each node a clock: far more unlike than W-6 allows in most networks, so that ticks with
    /// no character or two come often.
    fn clocks(&mut self, scenario: &mut Scenario) {
        let scale = self.one_of(&[1, 20, 100, 300]);
        scenario.set_clocks(|_| {
            let ppm = i64::try_from(self.below(201)).unwrap() - 100;
            NodeClock::Ppm(i16::try_from(ppm * scale).unwrap())
        });
    }

    fn interface(&mut self) -> String {
        if !self.chance(30) {
            return String::new();
        }
        let memory = self.one_of(&[300, 3000]);
        let bus = self.one_of(&["ideal", "sbus"]);
        let boot = self.below(400);
        let keys = format!("receive_memory = {memory}\nbus = '{bus}'\nboot_periods = {boot}\n");
        let mut text = format!("[interface]\n{keys}");
        for job in ["command", "packet"] {
            let time = self.one_of(&[0, 1, 40, 700]);
            writeln!(text, "{job}_periods = {time}").unwrap();
        }
        text
    }

    /// Packets that ask a switch for its answer, one or more at a time.
    fn asking(&mut self) -> String {
        let (from, at) = (self.below(2), self.below(3000));
        let (byte, more) = (0x80 + self.below(4), 1 + self.below(3));
        let asks = format!("ff {byte:02x} 13×{more} 55 GAP ").repeat(self.one_of(&[1, 1, 3]));
        format!("[[raw]]\nfrom = 'h{from}'\nat_periods = {at}\nchars = 'GAP {asks}'\n")
    }

    fn plan(&mut self) -> String {
        let mut text = format!("duration_periods = {}\n", 3000 + self.below(4000));
        let method = self.below(8);
        let over_fibre = self.chance(12);
        text += &if over_fibre { self.fibre() } else { self.topology() };
        let is_routed = text.contains("'router'");
        text += &match method {
            0 => self.mapping(),
            _ if is_routed => self.mapping(),
            1 | 2 => "[routes]\nmethod = 'shortest'\n".to_owned(),
            _ => String::new(),
        };
        let is_shared = !over_fibre && self.chance(30);
        let divisor = self.one_of(&[1, 1, 1, 1, 2, 3]);
        let delay = self.one_of(&[1, 2, 3, 12, 12, 12, 31, 80]);
        write!(text, "[link]\nrate_divisor = {divisor}\ndelay_periods = {delay}\n").unwrap();
        text += self.one_of(&["", "", "", "", "skew_ns = 5\njitter_ns = 1\n", "skew_ns = 8\n"]);
        if is_shared {
            text += self.one_of(&[PROFILE, PROFILE, PROFILE_OF_THREE]);
        } else if !over_fibre && self.chance(12) {
            let time = self.one_of(&["0", "9", "31.7"]);
            write!(text, "kind = 'handshake'\nhandshake_ns = {time}\n").unwrap();
        }
        let keys = self.port_keys();
        let has_profile = text.contains("profile");
        let keys = keys.lines().filter(|key| !has_profile || !key.starts_with("fill"));
        keys.for_each(|key| text += &format!("{key}\n"));
        let (routing, token) = (self.one_of(&[0, 1, 5, 28, 60]), self.one_of(&[0, 1, 2, 2, 7]));
        let extensions = self.one_of(&["false", "false", "false", "false", "true", "'computer'"]);
        let extensions = if is_shared || over_fibre { "false" } else { extensions };
        write!(text, "[switch_defaults]\nrouting_periods = {routing}\n").unwrap();
        write!(text, "token_step_periods = {token}\nextensions = {extensions}\n").unwrap();
        text += self.one_of(&["", "", "arbitration = 'age'\n"]);
        text += if self.chance(15) { "forwarding = 'store-and-forward'\n" } else { "" };
        text += &self.interface();
        (0..=self.below(2)).for_each(|_| text += &self.traffic());
        if !is_routed && self.chance(20) {
            writeln!(text, "multicast = {}", 1 + self.below(3)).unwrap();
        }
        if self.chance(50) {
            (0..=self.below(3)).for_each(|_| text += &self.fault());
        }
        if !is_routed && self.chance(10) {
            text += &self.endpoints();
        }
        if !is_routed && self.chance(8) {
            text += &self.over_ip();
        }
        if self.chance(15) {
            let (at, count) = (self.below(3000), 1 + self.below(120));
            let end = self.one_of(&["", "GAP", "IDLE×30 GAP", "GAP GAP 85 GAP"]);
            let chars = format!("GAP 81 05×{count} {end}");
            write!(text, "[[raw]]\nfrom = 'h0'\nat_periods = {at}\nchars = '{chars}'\n").unwrap();
        }
        if extensions != "false" {
            (0..6).for_each(|_| text += &self.asking());
        }
        if self.chance(60) {
            text += "[[tap]]\nall = true\n";
        }
        text
    }
}

/// Plans of one test in `cargo test`, of which `cargo xtask laws` runs a multiple; the tests run at the same time.
const PLANS: u64 = 90;

fn check_plans(part: u64) {
    let times = std::env::var("MYRISCOPE_LAWS").ok().and_then(|times| times.parse().ok());
    let (mut received, plans) = (0, PLANS * times.unwrap_or(1));
    for seed in part * plans..(part + 1) * plans {
        let mut choices = RandomChoices(seed);
        let plan = choices.plan();
        let scenario = Scenario::read_with("plan", &plan, Some(seed));
        let mut scenario = scenario.unwrap_or_else(|error| panic!("{error}\n{plan}"));
        if part == 4 {
            choices.clocks(&mut scenario);
        }
        received += check(&plan, &scenario, seed);
    }
    assert!(received > 20 * usize::try_from(PLANS).unwrap(), "{received}");
}

#[test]
fn both_engines_agree_on_the_first_random_networks() {
    check_plans(0);
}

#[test]
fn both_engines_agree_on_the_second_random_networks() {
    check_plans(1);
}

#[test]
fn both_engines_agree_on_the_third_random_networks() {
    check_plans(2);
}

#[test]
fn both_engines_agree_on_the_fourth_random_networks() {
    check_plans(3);
}

#[test]
fn both_engines_agree_on_random_networks_of_unlike_clocks() {
    check_plans(4);
}
