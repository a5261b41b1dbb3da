package cli

// word is a term of the reports, explained.
type word struct {
	Word string `json:"word"`
	Text string `json:"text"`
}

// words is the glossary, in alphabetical order.
func words() []word {
	return []word{
		{"adoption", "What taking a contender into a service costs besides time: modules and their licences, the age of the release, the size of the binary, the time to build and to start, resident memory."},
		{"baseline", "The contender that every ratio is taken to. It is entered twice: the second entry is the control."},
		{"block", "Consecutive slices added up, so long that at least two collection cycles of the allocating side fall into it."},
		{"budget", "How long a study may measure; builds are not counted. quick weighs only what carries a claim, a criterion or an expectation; full weighs everything; a duration of your own that is too small is refused."},
		{"calibration", "Weighing programs of known cost. tare doctor --calibrate says which differences this machine can tell apart, and in what time."},
		{"claim", "A published statement with its figures and its source, asked again here. It holds, its direction holds, it is a tie, refuted, void as published, inconclusive, or it was not measured."},
		{"comparison", "A contender against another on one workload and metric, paired round by round: a ratio with an interval."},
		{"conformance", "Every contender shows its answers before it is timed, and the lab compares them with the reference. Wrong answers disqualify."},
		{"contender", "One implementation under test, as a program of its own: name, version and build."},
		{"control", "The baseline entered a second time. It is the same program, so whatever differs between the two is the machine; nothing smaller than that is ever claimed."},
		{"cost", "What a contender's CPU time comes to in a service that does the operation at a given rate (--at): the cores it uses, and those it saves against the baseline."},
		{"criterion", "A rule with a margin, declared before measuring, such as time ratio <= 0.5. Held against an interval it is met, not met, inconclusive or void."},
		{"direction holds", "Of a claim: the measured interval lies wholly on the claimed side of 1, but the size is another one."},
		{"equivalent", "The whole interval lies within the margin around 1. No difference found is not the same: that may only mean too little evidence."},
		{"evidence", "Everything a trial recorded besides its times: output, memory, processors it could use, what its binary contains. Checks read it."},
		{"finding", "What a check saw and what to do about it: a note, a warning, or void."},
		{"fixture", "A generated input. The same name and size give the same bytes everywhere."},
		{"full", "The budget that weighs every contender and workload of a study."},
		{"holds", "Of a claim: the measured interval lies within a quarter of the published ratio, on the claimed side."},
		{"inconclusive", "The interval lies on both sides of the margin: the evidence allows no ruling. The report says how many rounds would."},
		{"interval", "The range of ratios that the rounds are compatible with, at 95 % over all looks together. It is computed from rounds only, because iterations within a process resemble each other more than processes do."},
		{"journal", "Every slice, one line each, written as it was measured. A run that was cut off goes on from it with --resume."},
		{"kind", "How a study asks its contenders, such as codec."},
		{"letters", "Contenders that share a letter could not be told apart. One that carries two letters stands between two groups."},
		{"live heap", "Memory that every contender holds while it is measured, if a workload asks for it: collection cycles get long and rare, as in a large service."},
		{"lockstep", "The contenders of a round take turns slice by slice, so that whatever the machine does in the meantime hits all of them alike."},
		{"look", "A number of rounds, fixed in advance, after which the evidence is judged. The intervals pay for looking several times, so stopping early is no cheating."},
		{"met", "Of a criterion: the whole interval lies on the right side of the margin."},
		{"not measured", "Of a claim: this run did not weigh what the claim is about, and says why."},
		{"not met", "Of a criterion: the whole interval lies on the wrong side of the margin."},
		{"null", "The contender that answers right and does nothing while timed: what is left is the harness itself."},
		{"pair", "Two contenders in the same round. Their slices lie side by side in time and are compared one by one."},
		{"plan", "Every round in order, derived from a seed, printed before the first one runs."},
		{"quick", "The budget that weighs only what carries a claim, a criterion or an expectation."},
		{"rank", "The range of places that the evidence allows a contender: how many are proven faster and how many slower."},
		{"ratio", "This contender's value divided by the other's; below 1 is less time, fewer bytes."},
		{"refuted", "Of a claim: the measured interval lies wholly on the other side of 1, or so near 1 that the published effect is out of the question."},
		{"resolution", "The smallest difference the control let this machine see in the time it took."},
		{"result", "Everything a study found, as one JSON document (schema tare.result/1)."},
		{"round", "Every contender once, in fresh processes and random order. It is the unit that is counted: n rounds are n observations."},
		{"seed", "The number all random order comes from. The same seed gives the same plan."},
		{"semantics", "Where a contender's answers mean something else than the reference's, on cases made for that. It does not disqualify; it is part of the price."},
		{"slice", "The work of one turn. Where a contender allocates, a slice holds whole collection cycles, so that nobody's garbage is collected on another's time."},
		{"statement", "A claim without figures: refuted where the check it names fires for the contender."},
		{"study", "A question with contenders, workloads, metrics, criteria and claims: a YAML file."},
		{"tie", "Of a claim: the measured interval lies within 5 % of 1, where less than 10 % was claimed."},
		{"trap", "A contender that repeats a published mistake, marked †. It is timed to show what was published, and never ranked or compared."},
		{"trial", "One contender in one round: one fresh process."},
		{"verdict", "What the evidence says about a criterion: met, not met, inconclusive or void, in one sentence."},
		{"void", "A check found that a number does not mean what it says. A void number is struck out: it is neither good nor bad."},
		{"void as published", "Of a claim: what was published measured something else than it says; the check that shows it is named."},
		{"workload", "What every contender is asked to do, byte for byte the same."},
	}
}
