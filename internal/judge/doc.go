// Package judge turns the measurements of a study into verdicts. It computes the effects of every
// round (the logarithms of ratios between contenders), the comparisons with their intervals, and the
// ruling and the sentence of each criterion and claim. Its functions depend on their arguments only.
// Package [github.com/tarebench/tare] defines the terms: slice, round, look, control, noise floor, void
// and trap.
//
// The order in which a lab calls it:
//
//	effects := judge.Effects(d)
//	comparisons, values := judge.Compare(d, effects), judge.Values(d)
//	scaling := judge.Scaling(d)
//	findings := check.Run(…)
//	comparisons, values = judge.Strike(d, effects, comparisons, values, findings)
//	verdicts := judge.Verdicts(d, comparisons, findings)
//	decomposition := judge.Decompose(d, effects, comparisons, findings)
//	breakEven := judge.BreakEven(d, findings)
//	claims := judge.Claims(d, comparisons, values, findings, notWeighed)
//	stop := judge.Decided(verdicts, claims)
//
// # What the error level covers
//
// Rounds are the unit of inference, and every interval holds over all looks of
// the plan at once ([stats.LookLevel]). Alpha is 5 %.
//
// The primary metric of one contender against the baseline is one family over the workloads, and so
// is each further metric over the workloads on which a criterion or claim names it. Within a family
// the intervals step down as in Holm's procedure: all m intervals start at alpha/m. Those that
// decide all of their questions leave the family and keep this interval. The remaining m−r are
// computed again at alpha/(m−r), until no more leave. The questions to an interval are all values
// at which a decision would flip: no difference (ratio 1), the limits of the criteria, and the
// bounds between the outcomes of a claim. The probability that any interval of a family leaves
// although its true ratio is one of these values is at most alpha. (Holm's argument: call that a
// mistake. Before the first mistake, only intervals that cannot make one have left, so m−r is at
// least the number of intervals that can, and each makes one with probability at most
// alpha/(m−r).) Rulings, claims and differences all use the one interval that is printed.
//
// Ranks are a family of their own: all pairs on one workload, Holm over pairs. So are the
// differences that criteria ask about one metric of one contender, stepping down likewise; a claim
// of a trend by itself; and the steps of a decomposition, which share 5 % evenly. Other metrics are
// marked exploratory and are at 5 % each.
package judge
