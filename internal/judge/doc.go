// Package judge turns the measurements of a study into verdicts. A study compares contenders in
// rounds, such as two JSON encoders. Package judge computes the ratio of their times in each round,
// an interval over all rounds, and a sentence. Its functions depend only on their arguments.
// Package [github.com/tarebench/tare] defines the terms.
//
// A program that measures calls it in this order:
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
// Intervals are computed from the values of rounds. At a look, after some number of rounds, the study
// may stop. All intervals of all looks hold together ([stats.LookLevel]). Alpha is 5 %.
//
// A family is a set of intervals with a common error level. One contender's primary metric is a
// family over the workloads. So is each further metric, over the workloads of its criteria and claims.
//
// The intervals of a family step down as in Holm's procedure. All m intervals start at alpha/m. Those
// that decide all of their questions leave the family and keep their interval. If r have left, the
// remaining m−r are computed again at alpha/(m−r), until no more leave. A question is a value at
// which a decision flips: no difference (ratio 1), the limit of a criterion, or the bound of a
// claim's outcome.
//
// A mistake is an interval that leaves although its true ratio is one of these values. Its
// probability is at most alpha for the family. Holm's argument: Before the first mistake, only
// intervals that cannot make one have left. So at most m−r intervals can make one, each with
// probability alpha/(m−r).
//
// Rulings, claims and differences all use the one interval that is printed.
//
// Ranks are a family of their own: all pairs on one workload, by Holm's procedure. So are the
// differences that criteria limit, for one metric of one contender. So is each claim of a trend. The
// steps of a decomposition share 5 % evenly. Other metrics are marked exploratory and are at 5 % each.
package judge
