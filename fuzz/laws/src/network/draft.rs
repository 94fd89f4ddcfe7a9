//! A scenario file while it is drawn: generators add to it the parts of a network, its traffic and what breaks.

use simulator::fault::{BitErrors, FaultKind, FaultPlace, FaultSpec};
use simulator::interface::ConsumptionMode;
use simulator::link::{
    FIBRE_PERIODS_PER_KM, FillMode, FramingMode, LinkParameters, PortParameters, ResetEnding,
    SymbolSet,
};
use simulator::routes::{RouteTable, RoutingMethod};
use simulator::scenario::{Scenario, word_of};
use simulator::topology::{
    ArbitrationPolicy, CableSpec, ExtensionSupport, ForwardingMode, NodeId, NodeKind, NodePort,
    SwitchParameters, SwitchRole, Topology,
};
use simulator::wires::CableFlow;
use toml::{Table, Value};

/// A scenario file so far, with the network that it has.
#[derive(Clone, Debug)]
pub struct NetworkDraft {
    pub topology: Topology,
    pub routes: RouteTable,
    /// Hosts in node order.
    pub hosts: Vec<NodeId>,
    /// Faults, in any order. The file has a table of each.
    pub faults: Vec<FaultSpec>,
    /// All of the file but the faults.
    document: Table,
}

/// Keys and values of a text in TOML.
fn table(text: &str) -> Table {
    toml::from_str(text).unwrap_or_else(|error| unreachable!("{error} {text}"))
}

impl NetworkDraft {
    /// The file of a network, in which each node and cable has a table of its own; none if it has no routes of the
    /// method.
    pub fn new(topology: Topology, method: RoutingMethod) -> Option<Self> {
        let routes = RouteTable::compute(&topology, method).ok()?;
        let hosts = topology.hosts().collect();
        let (faults, document) = (Vec::new(), Table::new());
        let mut draft = Self { topology, routes, hosts, faults, document };
        if method == RoutingMethod::Shortest {
            draft.set("routes.method = 'shortest'");
        }
        for node in draft.topology.nodes().to_vec() {
            match node.kind {
                NodeKind::Host => draft.add("host", &format!("name = '{}'", node.name)),
                NodeKind::Switch(switch) if switch.role == SwitchRole::Crossbar => {
                    draft.add("switch", &switch_keys(&node.name, &switch));
                }
                NodeKind::Switch(_) => {}
            }
        }
        let cables = draft.topology.cables().to_vec();
        draft.set_cables(&cables)?;
        Some(draft)
    }

    /// Replaces the cables; none if they do not fit.
    pub fn set_cables(&mut self, cables: &[CableSpec]) -> Option<()> {
        self.remove(&["fibre", "cable"]);
        let mut cables = cables.to_vec();
        // The table of a fibre has the keys of both its ends.
        for cable in cables.iter_mut().filter(|cable| self.topology.is_fibre(cable)) {
            cable.link.ports[1] = cable.link.ports[0];
        }
        self.topology = Topology::new(self.topology.nodes().to_vec(), cables.clone()).ok()?;
        cables.iter().for_each(|cable| self.add_cable(cable));
        Some(())
    }

    fn add_cable(&mut self, cable: &CableSpec) {
        let CableSpec { ends, link } = cable;
        let node = self.name(ends[0].node);
        if let Some(fibre) = node.strip_suffix(".0").filter(|_| self.topology.is_fibre(cable)) {
            let (km, rest) =
                (link.delay.0 / FIBRE_PERIODS_PER_KM, link.delay.0 % FIBRE_PERIODS_PER_KM);
            let rest = rest * 10_000 / FIBRE_PERIODS_PER_KM;
            let base = LinkParameters::default().fibre(link.delay);
            let keys = port_keys(&link.ports[0], base.ports.first());
            let name = format!("name = '{fibre}'\nlength_km = {km}.{rest:04}\n");
            return self.add("fibre", &(name + &keys));
        }
        let [a, b] = ends.map(|end| self.topology.port_name(end));
        let mut keys = format!("ends = ['{a}', '{b}']\ndelay_periods = {}\n", link.delay.0);
        if link.wires.flow == CableFlow::Handshake {
            keys += "kind = 'handshake'\n";
        }
        // An end at a fibre has the keys of the fibre unless it has its own.
        let is_at_fibre = |end: &NodePort| {
            let node = self.topology.node(end.node).map(|node| node.kind);
            matches!(node, Some(NodeKind::Switch(it)) if it.role == SwitchRole::FibreEnd)
        };
        let base = Some(PortParameters::default()).filter(|_| !ends.iter().any(is_at_fibre));
        let [a, b] = link.ports.map(|port| port_keys(&port, base.as_ref()));
        keys += &if a == b { a } else { format!("[a]\n{a}[b]\n{b}") };
        self.add("cable", &keys);
    }

    /// Sets keys of the file, or of its single tables.
    pub fn set(&mut self, text: &str) {
        for (key, value) in table(text) {
            let own = self.document.entry(key).or_insert_with(|| Value::Table(Table::new()));
            if let (Some(own), Some(more)) = (own.as_table_mut(), value.as_table()) {
                own.extend(more.clone());
            } else {
                *own = value;
            }
        }
    }

    /// Adds a table with these keys to a list.
    pub fn add(&mut self, list: &str, keys: &str) {
        let list = self.document.entry(list).or_insert_with(|| Value::Array(Vec::new()));
        if let Some(list) = list.as_array_mut() {
            list.push(Value::Table(table(keys)));
        }
    }

    /// Adds a tap for all of the time, or for that of further keys.
    pub fn add_tap(&mut self, port: NodePort, keys: &str) {
        let name = self.topology.port_name(port);
        self.add("tap", &format!("port = '{name}'\n{keys}"));
    }

    /// Removes lists and single tables.
    pub fn remove(&mut self, names: &[&str]) {
        self.document.retain(|name, _| !names.contains(&name));
    }

    /// Keeps some of the streams, which start within so many periods.
    pub fn start_within(&mut self, periods: u64, most: usize) {
        let mut left = most;
        for list in ["traffic", "ip"] {
            let streams = self.document.get_mut(list).and_then(Value::as_array_mut);
            if let Some(streams) = streams {
                streams.truncate(left);
                left -= streams.len();
            }
            for stream in self.tables(list) {
                let start = stream.get("start_periods").and_then(Value::as_integer).unwrap_or(0);
                let start = start % periods.cast_signed();
                stream.insert("start_periods".to_owned(), Value::Integer(start));
            }
        }
    }

    /// Tables of a list, in order.
    pub fn tables(&mut self, list: &str) -> impl Iterator<Item = &mut Table> {
        let list = self.document.get_mut(list).and_then(Value::as_array_mut);
        list.into_iter().flatten().filter_map(Value::as_table_mut)
    }

    /// Sets keys of the tables of a list, from the first on.
    pub fn set_each(&mut self, list: &str, keys: impl IntoIterator<Item = String>) {
        self.tables(list).zip(keys).for_each(|(own, keys)| own.extend(table(&keys)));
    }

    pub fn name(&self, node: NodeId) -> &str {
        self.topology.node(node).map_or("?", |node| &node.name)
    }

    /// The file.
    pub fn text(&self) -> String {
        let mut all = self.clone();
        all.faults.sort_by_key(|fault| fault.at);
        for fault in std::mem::take(&mut all.faults) {
            all.add("fault", &self.fault_keys(&fault));
        }
        toml::to_string(&all.document).unwrap_or_else(|error| unreachable!("{error}"))
    }

    /// The scenario that the file stands for.
    pub fn scenario(&self) -> Scenario {
        let text = self.text();
        let scenario = Scenario::read("scenario.toml", &text);
        scenario.unwrap_or_else(|error| unreachable!("{error}\n{text}"))
    }

    fn fault_keys(&self, FaultSpec { at, until, place, kind }: &FaultSpec) -> String {
        let place = match kind.acts_on() {
            FaultPlace::Port | FaultPlace::Sender | FaultPlace::SwitchPort => {
                self.topology.port_name(*place)
            }
            FaultPlace::Node | FaultPlace::Host => self.name(place.node).to_owned(),
        };
        let own = match kind {
            FaultKind::Noise { errors, mean } => {
                let errors = word_of(&BitErrors::WORDS, *errors);
                format!("errors = '{errors}'\nmean_characters = {mean}\n")
            }
            FaultKind::Flip { bits } => format!("bits = {bits}\n"),
            FaultKind::OpenWire { wire } => format!("wire = {wire}\n"),
            FaultKind::Probe(number) => format!("number = {}\n", number.value()),
            FaultKind::Consume(how) => format!("how = {}\n", consumption(*how)),
            FaultKind::Wires(_) => unreachable!("no generator disturbs wires"),
            FaultKind::Cut
            | FaultKind::LoseGap
            | FaultKind::ForwardReset
            | FaultKind::BackwardReset
            | FaultKind::PowerOff
            | FaultKind::SupplyOff
            | FaultKind::DeadPort
            | FaultKind::Restart => String::new(),
        };
        let lasting = until.filter(|_| kind.lasts());
        let lasting = lasting.map(|until| format!("for_periods = {}\n", until - at));
        format!(
            "at_periods = {at}\n{} = '{place}'\n{own}{}",
            kind.name(),
            lasting.unwrap_or_default()
        )
    }
}

/// The value of a key for what a host consumes. I-4
pub fn consumption(mode: ConsumptionMode) -> String {
    match mode {
        ConsumptionMode::Every(periods) => periods.to_string(),
        ConsumptionMode::Always | ConsumptionMode::Never | ConsumptionMode::Adversary => {
            format!("'{}'", word_of(&ConsumptionMode::WORDS, mode))
        }
    }
}

fn switch_keys(name: &str, switch: &SwitchParameters) -> String {
    format!(
        "name = '{name}'\nports = {}\naddressing = '{}'\nrouting_periods = {}\ntoken_step_periods = {}\n\
         arbitration = '{}'\nextensions = {}\nforwarding = '{}'\nsupplies = {}\n",
        switch.ports,
        switch.addressing.name(),
        switch.routing,
        switch.token_step,
        word_of(ArbitrationPolicy::WORDS, switch.arbitration),
        switch.extensions == ExtensionSupport::On,
        word_of(&ForwardingMode::WORDS, switch.forwarding),
        switch.supplies,
    )
}

/// The keys of a port, or those that differ from another one.
fn port_keys(port: &PortParameters, base: Option<&PortParameters>) -> String {
    let keys = |port: &PortParameters| {
        [
            format!("rate_divisor = {}\n", port.divisor),
            format!("go_slack = {}\n", port.slack.go_slack),
            format!("hysteresis = {}\n", port.slack.hysteresis),
            format!("stop_slack = {}\n", port.slack.stop_slack),
            format!("generation_periods = {}\n", port.generation),
            format!("interpretation_periods = {}\n", port.interpretation),
            format!("blocked_periods = {}\n", port.blocked.0),
            format!("symbols = '{}'\n", word_of(&SymbolSet::WORDS, port.symbols)),
            format!("replies = {}\n", port.replies),
            format!("reset = '{}'\n", word_of(&ResetEnding::WORDS, port.reset)),
            format!("fill = '{}'\n", word_of(&FillMode::WORDS, port.fill)),
            format!("framing = '{}'\n", word_of(&FramingMode::WORDS, port.framing)),
        ]
    };
    let base = base.map(keys);
    let is_own = |key: &String| base.as_ref().is_none_or(|base| !base.contains(key));
    keys(port).into_iter().filter(is_own).collect()
}
