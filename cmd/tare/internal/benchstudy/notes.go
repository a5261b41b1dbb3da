package benchstudy

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
	"github.com/tarebench/tare/internal/check"
)

// Notes returns the kinds of findings that only tare bench adds to a result.
func Notes() []check.Check {
	return []check.Check{
		longSlices(), wholeRuns(), oneProcess(), unlikeGoTest(), repeatedRun(),
		HeadTests(), renamedModule(), partialRevision(), oneLayout(),
		SameCode(), NotCounted(), NotTimed(), Audited(),
	}
}

func longSlices() check.Check {
	return check.Check{
		ID: "long-slices", Severity: tare.Note,
		Summary: fmt.Sprintf("Package testing takes more than %v around each slice of a benchmark: for garbage collections, for a first iteration, and for the code before the loop. Slices are made twice as long as that.", notedOverhead),
		Why:     "The work around a slice is not in its results, but it takes time: longer slices are fewer slices, and the machine has more time to change between the slices of one side and of the other.",
		Advice:  "set up what is expensive once, outside of the benchmark, e.g. in a sync.Once",
	}
}

func wholeRuns() check.Check {
	return check.Check{
		ID: "whole-runs", Severity: tare.Note,
		Summary: fmt.Sprintf("A benchmark cannot be cut into slices: one iteration is longer than a slice may be (%v), or testing takes more than half of that to set it up again, or its time is not proportional to its iterations: work around the loop makes up a fifth of a slice, or an iteration takes more than twice as long if eight times as many are requested. "+
			"It is measured in whole runs instead, two of each side in a round, both sides with the same number of iterations, which take about %v. The other benchmarks stay in slices.", maxLength, wholeLength),
		Why: "If the time of an iteration depends on the number of iterations, a slice does not measure what go test -bench reports. " +
			"Whole runs do, but the sides take turns less often: disturbances affect the sides less equally, so it takes more rounds to show a difference.",
		Advice: "set up what is expensive once, outside of the benchmark or before b.ResetTimer, and let an iteration do the same work however many there are",
	}
}

func oneProcess() check.Check {
	return check.Check{
		ID: "one-process", Severity: tare.Note,
		Summary: "No two processes of a package can run at once, e.g. because its TestMain listens on a fixed port. Its benchmarks are measured in whole runs, each in a process of its own, which ends before the next one starts.",
		Why:     "Both sides and the control, a second copy of base, usually run at the same time. Of such a package only the first process would run, and the others would fail.",
		Advice:  "listen on port 0, and take files from b.TempDir, to have it measured like the others",
	}
}

func unlikeGoTest() check.Check {
	return check.Check{
		ID: "unlike-go-test", Severity: tare.Note,
		Summary: "The test binary was also run as go test -bench runs it, and there the time of a benchmark differs by a factor of more than two, over the same number of iterations. The note also names benchmarks for which a budget had no time to compare both.",
		Why:     "A benchmark may depend on something that differs between tare and go test: on flags, or on what other benchmarks leave in the process. Both sides are measured alike, but the value is not that of go test.",
		Advice:  "have the benchmark set up all that it needs, whatever ran before it",
	}
}

func repeatedRun() check.Check {
	return check.Check{
		ID: "repeated-run", Severity: tare.Note,
		Summary: "The TestMain of a package calls m.Run more than once, so that go test runs each benchmark as often. Only the first of these runs is measured.",
		Why:     "There is no value for what TestMain sets up for the later runs, e.g. another database.",
		Advice:  "make each configuration a sub-benchmark",
	}
}

// HeadTests returns the note that base runs the benchmarks of head.
func HeadTests() check.Check {
	return check.Check{
		ID: "head-tests", Severity: tare.Note,
		Summary: "With --tests head, base runs the benchmarks of head: in a copy of base, the test files and testdata that differ were replaced by those of head. If a file of head does not compile with the code of base, the file of base stays.",
		Why:     "If a change adds a benchmark, base has nothing to compare it with, and if a change edits a benchmark, the sides measure two different things. With the same benchmark on both sides, the difference is that of the code.",
		Advice:  "read which files were replaced: a test that uses internals of the package may measure something else in base",
	}
}

func renamedModule() check.Check {
	return check.Check{
		ID: "renamed-module", Severity: tare.Note,
		Summary: "The module has another path in base and head, e.g. a new major version. Packages in the same directory are compared, under the names of head.",
		Why:     "By their import paths they would be different packages, each in one side only.",
		Advice:  "nothing is to be done, but other modules import the two as different modules",
	}
}

func partialRevision() check.Check {
	return check.Check{
		ID: "partial-revision", Severity: tare.Note,
		Summary: "A revision is unpacked without something that belongs to it: submodules are empty directories, and if git-lfs is not installed, contents in Git LFS are pointers.",
		Why:     "A side that lacks files is another program, or does not build; without this note, the change would get the blame.",
		Advice:  "measure packages that do not need the missing files, or vendor the contents of the submodules",
	}
}

func oneLayout() check.Check {
	return check.Check{
		ID: "one-layout", Severity: tare.Note,
		Summary: "The linker of a side is older than Go 1.22 and cannot put functions in another order: the side is built once, and not linked again for each round.",
		Why:     "Code placement changes the time of tight loops, by a fifth and more. If a side is built only once, the effect of its placement is part of the difference, and the control does not show it.",
		Advice:  "build both sides with a newer toolchain (--go), or do not trust a small difference in a tight loop",
	}
}

// SameCode returns the note that two sides have the same code for a benchmark.
func SameCode() check.Check {
	return check.Check{
		ID: "same-code", Severity: tare.Note,
		Summary: "The machine code that a benchmark can execute is the same on both sides. Compared were, with addresses masked, the functions that calls from the benchmark lead to and all functions that can be called indirectly (amd64 and arm64; Linux and macOS).",
		Why:     "If the code is the same, a difference in time comes from data (a constant, a table, the result of an initialisation), from the addresses of code or data, or from chance. The cause is not in the code.",
		Advice:  "look at what differs in data, or expect no difference",
	}
}

// NotCounted returns the note that the instructions of a benchmark, or of all, are not counted.
func NotCounted() check.Check {
	return check.Check{
		ID: "not-counted", Severity: tare.Note,
		Summary: "The instructions of a benchmark or contender, or of all, are not counted: there is no counter on this machine, or it fails, takes too long or too much memory under it.",
		Why:     "Instructions are counted with the collector off and, under Valgrind, some fifty times slower than they are executed. The measured times are not affected.",
		Advice:  "set a longer budget if there was no time, or count nothing with --counts off",
	}
}

// NotTimed returns the note that a benchmark is not timed because nothing differs.
func NotTimed() check.Check {
	return check.Check{
		ID: "not-timed", Severity: tare.Note,
		Summary: "The machine code that a benchmark can execute is the same on both sides, and so is its count of instructions. So tare gate and tare bench --changed do not time the benchmark, and use its time for others.",
		Why:     "A difference in time could come only from the addresses of code and data, or from chance. Measuring it would take time from benchmarks that differ, and widen their intervals.",
		Advice:  "use --all to time it",
	}
}

func (b *Bench) noteRemarks(remarks []suite.Remark, shared []suite.Benchmark) {
	measured := map[string]bool{} // ids of benchmarks, and import paths of packages
	for _, m := range shared {
		measured[m.ID()] = true
		measured[strings.TrimSuffix(m.Package, "_test")] = true
	}
	for _, r := range remarks {
		switch {
		case !measured[r.ID]:
			continue // the benchmark is skipped, with a reason
		case r.OutOfTime:
			b.note(unlikeGoTest(), "", fmt.Sprintf("%s, %s: %s", r.Side, r.ID, r.Text))
		case r.Repeats:
			b.note(repeatedRun(), "", fmt.Sprintf("%s, %s: %s", r.Side, r.ID, r.Text))
		default:
			b.note(unlikeGoTest(), r.ID, r.Side+": "+r.Text)
		}
	}
}

// noteTests adds a note to each benchmark that base runs with the tests of head. headTests has the
// texts by package.
func (b *Bench) noteTests(headTests map[string]string, shared []suite.Benchmark) {
	for _, m := range shared {
		if text := headTests[strings.TrimSuffix(m.Package, "_test")]; text != "" {
			b.note(HeadTests(), m.ID(), text)
		}
	}
	for _, text := range b.keptTests {
		b.note(HeadTests(), "", text)
	}
}

// note adds a finding to every result; workload is "" if the finding is about all.
func (b *Bench) note(c check.Check, workload, message string) {
	b.findings = append(b.findings, tare.Finding{Check: c.ID, Severity: c.Severity, Workload: workload, Message: message, Advice: c.Advice})
}
