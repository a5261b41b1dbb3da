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

// Outline describes a comparison of benchmarks before anything is built. It shows the user what a
// run would measure.
type Outline struct {
	StudyID    string
	Titles     map[string]string // by id, such as base: v1.2.0 (1f2e3d4c5)
	Benchmarks []string          // functions of both sides, such as codec.BenchmarkEncode; nil if unknown
	Notes      []string          // one line each, about what Benchmarks does not show
}

// Outline returns the outline of a request. It runs git, but not the go command, and writes
// nothing.
func (r Request) Outline(ctx context.Context) (outline Outline, err error) {
	const noCache = "" // do not unpack revisions
	s, err := findSides(ctx, r, noCache)
	if err != nil {
		return outline, err
	}
	outline = Outline{StudyID: "bench " + nearestModule(s.head.UserDir), Titles: s.titles}
	if s.repo.Root == "" {
		outline.Notes = []string{"the benchmarks are not known before both sides are built, because this is not a git repository"}
		return outline, nil
	}
	topLevel, err := suite.CompilePattern(cmp.Or(r.Bench, "."))
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
	if r.Tests == TestsOfHead { // base will run the test files of head
		base = head
	}
	for _, b := range head {
		if dir, ok := r.selectsDir(s.repo, b.file); ok && slices.Contains(base, b) {
			outline.Benchmarks = append(outline.Benchmarks, dir+"."+b.name)
		}
	}
	slices.Sort(outline.Benchmarks)
	outline.Benchmarks = slices.Compact(outline.Benchmarks)
	outline.Notes = []string{"benchmarks are the functions of the sources; sub-benchmarks, and what does not build or is too slow, show later"}
	if r.Changed {
		outline.Notes = append(outline.Notes, "--changed: only those that the change can reach")
	}
	if r.Shard.Of > 1 {
		outline.Notes = append(outline.Notes, "--shard: only a part of them")
	}
	if slices.ContainsFunc(r.Packages, isImportPath) {
		outline.Notes = append(outline.Notes, "only those in "+strings.Join(r.Packages, " "))
	}
	return outline, nil
}

// selectsDir reports whether the request selects the package of file, a path in the repository. dir
// is relative to the user's directory. The pattern ./codec/... selects codec/json. An import path
// selects all packages, as only the go command could find it.
func (r Request) selectsDir(repo gitrev.Repo, file string) (dir string, ok bool) {
	userDir := filepath.Join("/", repo.Prefix)
	rel, err := filepath.Rel(userDir, filepath.Join("/", filepath.FromSlash(path.Dir(file))))
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	dir = filepath.ToSlash(rel)
	isIgnored := func(part string) bool { // ./... of the go command skips such a directory
		isHidden := strings.HasPrefix(part, "_") || strings.HasPrefix(part, ".") && part != "."
		return isHidden || part == "testdata" || part == "vendor"
	}
	if slices.ContainsFunc(strings.Split(dir, "/"), isIgnored) {
		return "", false
	}
	if len(r.Packages) == 0 || slices.ContainsFunc(r.Packages, isImportPath) {
		return dir, true
	}
	return dir, slices.ContainsFunc(r.Packages, func(pattern string) bool {
		above, isTree := strings.CutSuffix(pattern, "/...")
		above = path.Clean(above)
		isBelow := above == "." || strings.HasPrefix(dir, above+"/")
		return dir == above || isTree && isBelow
	})
}

// nearestModule returns the path of the module that dir is in, or the text MODULE if it is in none.
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
