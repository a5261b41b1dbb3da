package benchstudy

import (
	"cmp"
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
	"github.com/tarebench/tare/cmd/tare/internal/gitrev"
	"github.com/tarebench/tare/cmd/tare/internal/project/survey"
)

// Outline describes a comparison by its sources, before anything is built.
type Outline struct {
	StudyID    string
	Titles     map[string]string // descriptions of the sides, by id
	Benchmarks []string          // directory.Name of the functions that both sides have, sorted; nil if unknown
	Notes      []string          // one line each, about what Benchmarks does not show
}

// Outline returns the outline of a request. It runs git, but not the go command, and writes nothing.
func (a Request) Outline(ctx context.Context) (outline Outline, err error) {
	const unpackNone = ""
	s, err := findSides(ctx, a, unpackNone)
	if err != nil {
		return outline, err
	}
	outline = Outline{StudyID: "bench " + nearestModule(s.head.UserDir), Titles: s.titles}
	if s.repo.Root == "" {
		outline.Notes = []string{"which benchmarks there are shows when both sides are built: this is no git repository"}
		return outline, nil
	}
	topLevel, err := suite.CompilePattern(cmp.Or(a.Bench, "."))
	if err != nil {
		return outline, err
	}
	head, err := grepBenchmarks(ctx, s.repo, s.headRev, topLevel)
	if err != nil {
		return outline, err
	}
	base := head
	if s.baseRev != nil {
		if base, err = grepBenchmarks(ctx, s.repo, s.baseRev, topLevel); err != nil {
			return outline, err
		}
	}
	for _, m := range head {
		isShared := a.Tests == TestsOfHead || slices.Contains(base, m)
		if dir, ok := a.selectsDir(s.repo, m); ok && isShared {
			outline.Benchmarks = append(outline.Benchmarks, dir+"."+m.Line)
		}
	}
	slices.Sort(outline.Benchmarks)
	outline.Benchmarks = slices.Compact(outline.Benchmarks)
	outline.Notes = []string{"benchmarks are the functions of the sources; sub-benchmarks, and what does not build or is too slow, show later"}
	if a.Changed {
		outline.Notes = append(outline.Notes, "--changed: only those that the change can reach")
	}
	if a.Shard.Of > 1 {
		outline.Notes = append(outline.Notes, "--shard: only a part of them")
	}
	if slices.ContainsFunc(a.Packages, isImportPath) {
		outline.Notes = append(outline.Notes, "only those in "+strings.Join(a.Packages, " "))
	}
	return outline, nil
}

// selectsDir reports whether the request selects the package with the file of m, and returns the directory
// of the package, relative to the user's. It only knows relative patterns: without them it selects all.
func (a Request) selectsDir(repo gitrev.Repo, m gitrev.Match) (dir string, ok bool) {
	rel, err := filepath.Rel(filepath.Join("/", repo.Prefix), filepath.Join("/", filepath.FromSlash(path.Dir(m.File))))
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	dir = filepath.ToSlash(rel)
	isIgnored := func(part string) bool { // by the go command
		isHidden := strings.HasPrefix(part, "_") || strings.HasPrefix(part, ".") && part != "."
		return isHidden || part == "testdata" || part == "vendor"
	}
	if slices.ContainsFunc(strings.Split(dir, "/"), isIgnored) {
		return "", false
	}
	if len(a.Packages) == 0 || slices.ContainsFunc(a.Packages, isImportPath) {
		return dir, true
	}
	return dir, slices.ContainsFunc(a.Packages, func(pattern string) bool {
		above, isTree := strings.CutSuffix(pattern, "/...")
		above = path.Clean(above)
		isBelow := above == "." || strings.HasPrefix(dir, above+"/")
		return dir == above || isTree && isBelow
	})
}

// nearestModule returns the path of the module that dir is in, or MODULE if it is in none.
func nearestModule(dir string) string {
	for {
		if src, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil {
			return cmp.Or(survey.ModulePath(src), "MODULE")
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "MODULE"
		}
		dir = parent
	}
}
