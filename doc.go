// Package tare has the data types of a measurement: plain structs that a study, its plan and its
// result are made of. It imports nothing of the project and does nothing but validate and print.
//
// A scale is tared before it weighs. So is every study: the baseline runs a second time, as a
// control, and a null contender that does nothing runs next to the others. A difference that the
// control could show by itself is never claimed.
//
// A number takes these steps, each a package small enough to read:
//
//  1. A [Study] names a question, contenders, a baseline, workloads, metrics,
//     criteria and the published claims it tests again. People write it in YAML,
//     which [github.com/tarebench/tare/cmd/tare/internal/studyfile] reads.
//  2. [github.com/tarebench/tare/internal/plan] turns study and seed into a [Plan]:
//     rounds that hold one trial of every contender, in random order.
//  3. [github.com/tarebench/tare/lab] owns the [Round]: it opens the trials,
//     passes the token from contender to contender, one [Slice] each, journals each, and stops when the
//     evidence is enough or the budget is spent.
//  4. [github.com/tarebench/tare/internal/trial] is one contender in one fresh process,
//     a [Trial]; the program in it is built by [github.com/tarebench/tare/internal/build]
//     and speaks [github.com/tarebench/tare/contender/wire].
//  5. [github.com/tarebench/tare/internal/check] reads [Evidence] and yields a
//     [Finding]: note, warn or void, with what to do about it.
//  6. [github.com/tarebench/tare/stats] turns the effects of rounds into
//     estimates and intervals. It is arithmetic: no clock, no files.
//  7. [github.com/tarebench/tare/internal/judge] holds a [Criterion] against an
//     interval, which gives a [Verdict]: met, not met, inconclusive or void;
//     and a [Claim] likewise.
//  8. [github.com/tarebench/tare/report] renders a [Result]. It selects; it
//     never measures and never computes.
//  9. The command, [github.com/tarebench/tare/cmd/tare], keeps the result and
//     the journal side by side, so that a run can be read, resumed or
//     repeated from its seed.
//
// Values are in base units — nanoseconds, bytes, operations — and the unit is
// part of every document key. Ratios are always a contender's figure over the
// baseline's.
package tare
