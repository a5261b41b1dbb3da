package gobench

import (
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// Every rule finds what its bad example says and nothing in the good one. All
// rules read all examples, so that none finds anything in those of others.
func TestExamples(t *testing.T) {
	analyzers := newAnalyzers()
	every := &analysis.Analyzer{Name: "every", Doc: "runs all rules", Requires: analyzers, Run: func(pass *analysis.Pass) (any, error) {
		for _, a := range analyzers {
			for _, f := range pass.ResultOf[a].([]audit.Finding) {
				for _, file := range pass.Files {
					if at := pass.Fset.File(file.FileStart); at.Name() == f.File {
						pass.Reportf(at.LineStart(f.Line), "%s: %s", f.Rule, f.What)
					}
				}
			}
		}
		return nil, nil
	}}
	var dirs []string
	for _, r := range allRules() {
		dirs = append(dirs, identifier(r.ID))
	}
	// globals-changed reports one call a package
	dirs = append(dirs, "globals_emptied", "globals_helped", "globals_helped/table", "globals_imported", "globals_imported/restored")
	analysistest.Run(t, analysistest.TestData(), every, dirs...)
}
