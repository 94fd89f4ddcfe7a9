use laws::network::{self, plan::Plan, run::run};
use laws::repair::Dice;
use simulator::network::Layout;
use simulator::truth::Wanted;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let n: u64 = args[1].parse().unwrap();
    let from: u64 = args.get(3).map_or(0, |s| s.parse().unwrap());
    for number in from..n {
        let mut dice = Dice::new(format!("vary {number}").as_bytes());
        let plan = Plan::from_bytes(&dice.bytes(700)).unwrap();
        let held = std::panic::catch_unwind(|| match args[2].as_str() {
            "rules" => {
                let Some(s) = plan.scenario() else { return };
                let o = run(&s, Wanted::Everything, Layout::AsGiven, 333);
                if from + 1 == n {
                    for r in &o.rows {
                        println!("{r:?}");
                    }
                }
                network::rules::check(&s, &o);
            }
            "analyze" => laws::analyze::planned(&plan),
            _ => network::planned(&plan),
        });
        if held.is_err() {
            println!("number {number}");
        }
    }
}
