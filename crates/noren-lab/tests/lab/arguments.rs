//! Steps that there are not, and arguments that cannot be understood.

use crate::program::Lab;

#[test]
fn steps_that_there_are_not_are_refused() {
    let lab = Lab::new("steps");
    lab.refused(1, &["ckks", "--log-n", "13"], &["found 13", "14, 15, 16"]);
    lab.refused(1, &["kernels", "--log-n", "18"], &["found 18", "3 to 17"]);
    lab.refused(1, &["fused", "--log-n", "16"], &["found 16", "10 to 15"]);
    lab.refused(1, &["rns-heaan", "--log-n", "11"], &["found 11", "10 or 16"]);
    lab.refused(1, &["trace", "--special", "2"], &["found 2", "1, 5, 10"]);
    lab.refused(1, &["trace", "--level", "10"], &["found 10", "1 to 9"]);
    lab.refused(1, &["bootstrap", "--preset", "toy", "--log-slots", "10"], &["log_slots", "10", "9"]);
    lab.refused(1, &["parallel", "--level", "33"], &["found 33", "1 to 32"]);
    lab.refused(1, &["parallel", "--log-n", "12"], &["found 12", "16, 15, 14, 13"]);
    lab.refused(1, &["advise", "--number", "0,30"], &["--number", "found 30", "0 to 29"]);
    lab.refused(1, &["fused", "--beside", "program"], &["--beside"]);
}

#[test]
fn arguments_of_other_suites_are_wrong_usage() {
    let lab = Lab::new("usage");
    lab.refused(2, &["everything"], &["everything"]);
    lab.refused(2, &["ckks", "--seconds=-1"], &["seconds"]);
    lab.refused(2, &["bootstrap", "--preset", "n17"], &["one of n16"]);
    lab.refused(2, &["bootstrap", "--parallel", "all"], &["coefficient, modulus, both"]);
    lab.refused(2, &["lookup", "--log-n", "16"], &["12..=15"]);
    lab.refused(2, &["cyclotomic", "--set", "31:2"], &["15709:2:1"]);
    lab.refused(2, &["advise", "--place", "0"], &["--number"]);
    for (suite, option) in
        [("ckks", "--batch"), ("kernels", "--limbs"), ("client", "--shape"), ("bootstrap", "--level")]
    {
        lab.refused(2, &[suite, option, "2"], &[option, suite]);
    }
}
