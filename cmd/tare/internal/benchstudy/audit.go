package benchstudy

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
	"github.com/tarebench/tare/internal/check"
)

// This file runs the Go rules of tare audit on the benchmarks that tare bench measures. It adds a note
// to a benchmark in which they find a mistake.

// Audited describes that note.
func Audited() check.Check {
	return check.Check{
		ID: "audit", Severity: tare.Note,
		Summary: "The rules of tare audit find something in the code of a benchmark that is measured, in head.",
		Why:     "Both sides are measured alike, but the benchmark may measure something else than its name says: an error, an input that is used up, or what is left after the compiler removed the work.",
		Advice:  "tare audit says why, and what to do; tare explain RULE shows a rule",
	}
}

// auditTests returns findings of tare audit by import/path.BenchmarkName. It skips files that
// cannot be parsed, because the compiler will report them.
func auditTests(ctx context.Context, tests []suite.Tests) (map[string][]audit.Finding, error) {
	packages := map[string]string{} // by directory
	var files []string
	for _, t := range tests {
		packages[t.Package.Dir] = t.Package.Name()
		for _, name := range slices.Concat(t.Package.TestGoFiles, t.Package.XTestGoFiles) {
			files = append(files, filepath.Join(t.Package.Dir, name))
		}
	}
	rep, err := gobench.Read(ctx, files)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	found := map[string][]audit.Finding{}
	if err != nil {
		return found, nil // the compiler will report the error
	}
	for _, f := range rep.Findings {
		if pkg, ok := packages[filepath.Dir(f.File)]; ok && f.Name != "" && f.Severity != tare.Note {
			found[pkg+"."+f.Name] = append(found[pkg+"."+f.Name], f)
		}
	}
	return found, nil
}

// noteAudit adds a note to the first sub-benchmark of each benchmark with findings. shared has the
// benchmarks that exist on both sides.
func (b *Bench) noteAudit(found map[string][]audit.Finding, shared []suite.Benchmark) {
	noted := map[string]bool{}
	for _, m := range shared {
		name, _, _ := strings.Cut(m.Name, "/")
		id := strings.TrimSuffix(m.Package, "_test") + "." + name
		list := found[id]
		if len(list) == 0 || noted[id] {
			continue
		}
		noted[id] = true
		text := fmt.Sprintf("%s:%d: %s: %s", filepath.Base(list[0].File), list[0].Line, list[0].Rule, list[0].What)
		if n := len(list) - 1; n > 0 {
			text += fmt.Sprintf("; and %d more", n)
		}
		b.note(Audited(), m.ID(), text)
	}
}
