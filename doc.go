// Package tare contains the data types of a measurement: plain structs for a study, its plan and its
// result. It imports no other package of the project. Its functions only validate, find and print.
//
// A scale is tared before it weighs. So is every study: the baseline runs a second time, as a
// control, and a null contender that does nothing runs next to the others. A difference that the
// control could show by itself is never claimed.
//
// A measurement takes these steps, each in a package of its own:
//
//  1. A [Study] names a question, contenders, a baseline, workloads, metrics,
//     criteria and the published claims it tests again. People write it in YAML,
//     which [github.com/tarebench/tare/cmd/tare/internal/studyfile] reads.
//  2. [github.com/tarebench/tare/internal/plan] turns study and seed into a [Plan]:
//     rounds with one trial of every contender, in random order.
//  3. [github.com/tarebench/tare/lab] runs each [Round]: it opens the trials,
//     lets one contender at a time run a [Slice], writes each slice to the
//     journal, and stops when the evidence is enough or the budget is spent.
//  4. [github.com/tarebench/tare/internal/trial] runs one contender in one new
//     process, a [Trial]. Package [github.com/tarebench/tare/internal/build]
//     builds its program, which speaks [github.com/tarebench/tare/contender/wire].
//  5. [github.com/tarebench/tare/internal/check] reads the evidence and returns
//     each [Finding]: a note, a warning or a void, with advice.
//  6. [github.com/tarebench/tare/stats] turns the effects of rounds into
//     estimates and intervals. It is arithmetic: no clock, no files.
//  7. [github.com/tarebench/tare/internal/judge] compares each [Criterion] and
//     [Claim] with an interval. The result of a criterion is a [Verdict]: met,
//     not met, inconclusive or void.
//  8. [github.com/tarebench/tare/report] renders a [Result]. It selects, but
//     never measures or computes.
//  9. The command, [github.com/tarebench/tare/cmd/tare], saves the result next to
//     the journal, so that a run can be read, resumed or repeated from its
//     seed.
//
// # Terms
//
//   - A slice is the work of one contender on one workload while all others wait.
//   - A round is one trial of every contender, in new processes and random order. Rounds are the
//     observations: intervals are computed from them.
//   - Tau is the factor between the length of a round's slices and the planned length. It is 1, or 8
//     in extra rounds, which show whether the results depend on the length.
//   - A look is a number of rounds, fixed in advance, after which the evidence is judged and the
//     study may stop. The intervals of all looks together have the stated confidence.
//   - The control is the baseline a second time. The noise floor is the difference between the two.
//   - A metric of a contender is void if a [Finding] shows that its measurements do not count.
//   - A trap is a contender that reproduces a published mistake; a check must void it.
//
// Values are in base units (nanoseconds, bytes, operations), and the unit is part of every document
// key. A ratio is a contender's value over the baseline's.
package tare
