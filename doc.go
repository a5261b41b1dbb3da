// Package tare contains the data types of a measurement: plain structs for a study, its plan and
// its result. It imports no other package of the project. Its functions only validate, find and
// print.
//
// For example, a study measures whether chi answers faster than net/http. A scale is tared before it
// weighs, and so is every study. The baseline net/http runs a second time, as a control. A null
// contender that does nothing runs next to them. A difference that the control could show by itself
// is never claimed.
//
// A measurement takes these steps, each in a package of its own:
//
//  1. A [Study] names a question, contenders, a baseline, workloads, metrics,
//     criteria and published claims. It is written in YAML, which
//     [github.com/tarebench/tare/cmd/tare/internal/studyfile] reads.
//  2. [github.com/tarebench/tare/internal/plan] turns study and seed into a [Plan]
//     of rounds. A round has one trial of every contender, in random order.
//  3. [github.com/tarebench/tare/lab] runs each [Round]. It lets one contender at
//     a time run a [Slice], and writes it to the journal.
//  4. [github.com/tarebench/tare/internal/trial] runs one contender in one new
//     process, a [Trial]. Package [github.com/tarebench/tare/internal/build]
//     builds its program, which speaks [github.com/tarebench/tare/contender/wire].
//  5. [github.com/tarebench/tare/internal/check] reads the evidence and returns
//     each [Finding]: a note, a warning or a void.
//  6. [github.com/tarebench/tare/stats] computes estimates and intervals.
//  7. [github.com/tarebench/tare/internal/judge] compares each [Criterion] and
//     [Claim] with an interval. The result of a criterion is a [Verdict].
//  8. [github.com/tarebench/tare/report] renders a [Result].
//  9. The command, [github.com/tarebench/tare/cmd/tare], saves the result next to
//     the journal. A run can be resumed, or repeated from its seed.
//
// # Terms
//
//   - A slice is the work of one contender on one workload while all others wait.
//   - A round is one trial of every contender, in new processes and random order. Intervals are
//     computed from rounds.
//   - Tau is the factor between the length of a round's slices and the planned length. It is 1, or 8
//     in extra rounds, which show whether the results depend on the length.
//   - A look is a number of rounds after which the evidence is judged and the study may stop. The
//     intervals of all looks together have the stated confidence.
//   - The control is the baseline a second time. The noise floor is the difference between the two.
//   - A metric of a contender is void if a [Finding] shows that its measurements do not count.
//   - A trap is a contender that reproduces a published mistake. A check must void it.
//
// Values are in base units (nanoseconds, bytes, operations). The unit is part of every document
// key. A ratio is a contender's value over the baseline's.
package tare
