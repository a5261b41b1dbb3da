// Package benchstudy compares the Go benchmarks of two sides of a user's module, base and head. For
// example, base is a release and head the user's files. The study of their common benchmarks is
// made by [NewBench] and run by package lab. Then [Bench.Finish] completes the result, and
// [Bench.Explain] profiles the benchmarks that differ. Instructions are counted by [Bench.Count].
package benchstudy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/reach"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
	"github.com/tarebench/tare/cmd/tare/internal/gitrev"
	"github.com/tarebench/tare/internal/build"
)

// Ids of the two sides.
const (
	Base = "base"
	Head = "head"
)

// Worktree is the head if no revision is set.
const Worktree = "worktree"

// Request configures a comparison. Without Base both sides are the same files, and With, Go, Env,
// Tags and PGO are their differences.
type Request struct {
	Dir      string   // directory of the user
	Packages []string // patterns of the go command; nil means ./...
	Base     string   // revision; "" means the files of the head
	Head     string   // revision; "" or Worktree means the user's files
	Bench    string   // pattern of go test -bench; "" means all benchmarks

	With      []build.With // other versions of modules
	Go        []string     // head's toolchain, or base's and head's; nil means the machine's
	Env       []string     // NAME=value
	EnvRecord []string     // Env as documents record it
	Tags      string       // build tags
	PGO       string       // absolute path of a profile

	Tests    string      // TestsOfHead if base runs the tests of head, or ""
	OneBuild bool        // build each side once instead of for each round
	Changed  bool        // only benchmarks that the change reaches
	Shard    suite.Shard // only a part of the benchmarks
}

// UsageError reports a request that the user has to change.
type UsageError = suite.UsageError

func usageError(format string, args ...any) error {
	return &UsageError{What: fmt.Sprintf(format, args...)}
}

type sides struct {
	base, head *suite.Side
	titles     map[string]string // by id, e.g. v1.2.0 (1f2e3d4c5)
	notes      []string          // files that unpacked revisions lack, a line each
	repo       gitrev.Repo       // zero outside of a repository
	baseRev    *gitrev.Revision  // nil if none was requested
	headRev    *gitrev.Revision  // nil if the head is the user's files
	reach      *reach.Reached    // nil unless Request.Changed is set
}

// findSides finds the directories of both sides, and unpacks requested revisions below cache. If
// cache is "", it unpacks none, and the sides have only titles and revisions.
func findSides(ctx context.Context, request Request, cache string) (*sides, error) {
	dir, err := filepath.Abs(request.Dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	if err := request.Validate(); err != nil {
		return nil, err
	}
	s := &sides{
		base:   &suite.Side{ID: Base, Dir: dir, Root: dir, UserDir: dir, OneBuild: request.OneBuild},
		head:   &suite.Side{ID: Head, Dir: dir, Root: dir, UserDir: dir, OneBuild: request.OneBuild},
		titles: map[string]string{Base: "as it is", Head: "as it is"},
	}
	needsRepo := request.Base != "" || request.headRevision() != ""
	if s.repo, err = gitrev.Find(ctx, dir); err != nil && needsRepo {
		return nil, usageError("%v", err)
	}
	if err == nil {
		s.base.Root, s.head.Root = s.repo.Root, s.repo.Root
		s.titles[Base] = s.repo.Worktree(ctx)
		s.titles[Head] = s.titles[Base]
	}
	if rev := request.headRevision(); rev != "" {
		if s.headRev, err = s.unpackRevision(ctx, s.head, rev, cache); err != nil {
			return nil, err
		}
		*s.base = *s.head
		s.base.ID, s.titles[Base] = Base, s.titles[Head]
	}
	if request.Base != "" {
		if s.baseRev, err = s.unpackRevision(ctx, s.base, request.Base, cache); err != nil {
			return nil, err
		}
	}
	s.applyHeadOptions(request)
	return s, nil
}

func (r Request) headRevision() string {
	if r.Head == Worktree {
		return ""
	}
	return r.Head
}

// Validate returns an error if options contradict each other.
func (r Request) Validate() error {
	hasHeadOption := len(r.With)+len(r.Go)+len(r.Env) > 0 || r.Tags != "" || r.PGO != ""
	if r.Base == "" && !hasHeadOption {
		return usageError("there is nothing to compare; give --base REV, or what the head is to have that the base has not: --with, --go, --env, --tags or --pgo")
	}
	if r.Tests != "" && r.Base == "" {
		return usageError("--tests %s needs --base REV, whose tests are others", r.Tests)
	}
	if r.Changed && r.Base == "" {
		return usageError("--changed needs --base REV, to which something can have changed")
	}
	if len(r.Go) > 2 {
		return usageError("--go takes one toolchain, of the head, or two: base,head")
	}
	for _, p := range r.Packages {
		if filepath.IsAbs(p) {
			return usageError("package %s is given by an absolute path, which is the same on both sides; give it as a relative path, e.g. ./parse", p)
		}
	}
	return nil
}

// benchmarkLine is a pattern of git grep for the first line of a benchmark.
const benchmarkLine = `^[[:space:]]*func[[:space:]]+Benchmark`

// isImportPath reports whether a pattern of packages is not a relative path.
func isImportPath(pattern string) bool { return !strings.HasPrefix(pattern, ".") }

// Check returns an error that needs no build to be found, such as an unknown revision. It is so
// quick that it does not disturb other measurements.
func (r Request) Check(ctx context.Context) error {
	if err := r.Validate(); err != nil {
		return err
	}
	topLevel, err := suite.CompilePattern(cmp.Or(r.Bench, "."))
	if err != nil {
		return err
	}
	repo, err := gitrev.Find(ctx, r.Dir)
	switch needsRepo := r.Base != "" || r.headRevision() != ""; {
	case err != nil && needsRepo:
		return usageError("%v", err)
	case err != nil:
		return nil
	}
	if r.Base != "" {
		if _, err := resolveRevision(ctx, repo, Base, r.Base); err != nil {
			return err
		}
	}
	var head *gitrev.Revision // nil for the user's files
	if name := r.headRevision(); name != "" {
		if head, err = resolveRevision(ctx, repo, Head, name); err != nil {
			return err
		}
	}
	isPartUnknown := r.Changed || r.Shard.Of > 1 || slices.ContainsFunc(r.Packages, isImportPath)
	if isPartUnknown { // only a build shows which benchmarks are selected
		return nil
	}
	found, err := grepBenchmarks(ctx, repo, head, topLevel)
	if err != nil || len(found) > 0 {
		return err
	}
	return noBenchmarksError(r, nil)
}

// declaration is a benchmark, e.g. BenchmarkEncode in codec/codec_test.go.
type declaration struct{ file, name string }

// grepBenchmarks returns the benchmarks of a revision whose names topLevel matches. A nil rev means
// the worktree.
func grepBenchmarks(ctx context.Context, repo gitrev.Repo, rev *gitrev.Revision, topLevel *regexp.Regexp) (found []declaration, err error) {
	matches, err := repo.Grep(ctx, rev, benchmarkLine, "*_test.go")
	for _, m := range matches { // m.Line is e.g. func BenchmarkEncode(b *testing.B) {
		_, after, _ := strings.Cut(m.Line, "func")
		name, _, _ := strings.Cut(after, "(")
		if name = strings.TrimSpace(name); topLevel.MatchString(name) {
			found = append(found, declaration{m.File, name})
		}
	}
	return found, err
}

func resolveRevision(ctx context.Context, repo gitrev.Repo, id, name string) (*gitrev.Revision, error) {
	rev, err := repo.Resolve(ctx, name)
	var unknown *gitrev.UnknownError
	if errors.As(err, &unknown) {
		return nil, usageError("--%s: %v; git log shows which there are, and a shallow clone has only the newest", id, err)
	}
	return &rev, err
}

func (s *sides) unpackRevision(ctx context.Context, side *suite.Side, name, cache string) (*gitrev.Revision, error) {
	rev, err := resolveRevision(ctx, s.repo, side.ID, name)
	if err != nil {
		return nil, err
	}
	s.titles[side.ID] = rev.String()
	if cache == "" {
		return rev, nil
	}
	root, notes, err := s.repo.Extract(ctx, *rev, cache)
	if err != nil {
		return nil, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	side.Root, side.Dir = root, filepath.Join(root, s.repo.Prefix)
	if info, err := os.Stat(side.Dir); err != nil || !info.IsDir() {
		return nil, usageError("--%s %s: it has no directory %s", side.ID, name, filepath.ToSlash(filepath.Clean(s.repo.Prefix)))
	}
	s.notes = append(s.notes, notes...)
	return rev, nil
}

func (s *sides) applyHeadOptions(request Request) {
	var options []string // printed in the title
	s.head.With, s.head.Env, s.head.Tags, s.head.PGO = request.With, request.Env, request.Tags, request.PGO
	for _, w := range request.With {
		options = append(options, w.String())
	}
	options = append(options, request.EnvRecord...)
	if request.Tags != "" {
		options = append(options, "tags "+request.Tags)
	}
	if request.PGO != "" {
		options = append(options, "profile "+filepath.Base(request.PGO))
	}
	switch len(request.Go) {
	case 1:
		s.head.Go = request.Go[0]
		options = append(options, request.Go[0])
	case 2:
		s.base.Go, s.head.Go = request.Go[0], request.Go[1]
		s.titles[Base] += " with " + request.Go[0]
		options = append(options, request.Go[1])
	}
	if len(options) > 0 {
		s.titles[Head] += " with " + strings.Join(options, ", ")
	}
}

// filterReached returns the packages that the change between the sides can reach, and sets s.reach.
// If partial is not nil, it says why the changed functions are unknown. Then all benchmarks of a
// reached package are selected.
func (s *sides) filterReached(ctx context.Context, packages []suite.Package) (selected []suite.Package, partial, err error) {
	files, err := s.repo.Changed(ctx, *s.baseRev, s.headRev)
	if err != nil {
		return nil, nil, err
	}
	var names []string
	for _, p := range packages {
		names = append(names, p.ImportPath)
	}
	deps, err := s.head.TestDeps(ctx, names)
	if err != nil {
		return nil, nil, err
	}
	env, flags := s.head.BuildSettings()
	s.reach, partial = reach.Find(ctx, reach.Query{Base: s.base.Root, Head: s.head.Root, Files: files, Deps: deps, Dir: s.head.Dir, Env: env, Flags: flags})
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	return slices.DeleteFunc(slices.Clone(packages), func(p suite.Package) bool { return !s.reach.ReachesPackage(p.ImportPath) }), partial, nil
}
