package suite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/kinds/gobench"
	"github.com/tarebench/tare/lab"
)

// This file builds the test binaries of one revision. For example, the package example.com/parse
// becomes a program that runs BenchmarkParse for a requested number of iterations.

// Tests contains the names of a package's benchmarks, read from the sources.
type Tests struct {
	Package   Package
	TestFiles []gobench.TestFile // internal and external tests (package x_test)
}

// FindTests reads the benchmarks in a package's test files. If a file does not parse, it returns
// those before the error, which the compiler will report.
func FindTests(p Package) Tests {
	t := Tests{Package: p}
	seen := map[string]bool{}
	for _, files := range [][]string{p.TestGoFiles, p.XTestGoFiles} {
		var f gobench.TestFile
		for _, name := range files {
			pkg, names, _ := gobench.Benchmarks(filepath.Join(p.Dir, name))
			if len(names) == 0 {
				continue
			}
			f.Package = pkg
			for _, n := range names {
				if !seen[n] { // an external test of the same name would have the same id
					f.Names = append(f.Names, n)
				}
				seen[n] = true
			}
		}
		if len(f.Names) > 0 {
			t.TestFiles = append(t.TestFiles, f)
		}
	}
	return t
}

// Key returns the key of file f in a suite: the package's name, with _test for external tests.
func (t Tests) Key(f gobench.TestFile) string {
	if strings.HasSuffix(f.Package, "_test") {
		return t.Package.Name() + "_test"
	}
	return t.Package.Name()
}

// Suite contains the test binaries of one revision of the user's module. The file Program describes
// them.
type Suite struct {
	Side        *Side
	Tests       []Tests                    // packages that were built
	Program     string                     // path of the file with the gobench.Suite
	Packages    map[string]gobench.Package // by Tests.Key
	Go          string                     // version of Go that built the side
	Failed      map[string]string          // by Package.Name
	roots       goRoots
	suite       gobench.Suite
	modules     []tare.Module // dependencies of the first binary
	sha256Hex   string        // hash of all binaries together
	binaryBytes int64         // sum over all binaries
	linkRate    float64       // ns per byte of the binary; 0 if none is linked again
}

// Build builds the test binaries of packages below work. pattern, of go test -bench, selects the
// benchmarks. Packages that do not compile are in Failed. If none compiles, the error is a
// *BuildError.
func Build(ctx context.Context, s *Side, packages []Tests, pattern, work string, say func(string)) (*Suite, error) {
	b := &Suite{Side: s, Program: filepath.Join(work, s.ID, "suite.json"), Failed: map[string]string{}}
	var err error
	b.roots, err = s.findRoots(ctx, filepath.Join(work, s.ID))
	if err != nil {
		return nil, err
	}
	suite := gobench.Suite{Packages: map[string]gobench.Package{}, Env: s.Env, GOROOT: b.roots.path, Bench: pattern, Procs: runtime.GOMAXPROCS(0)}
	for i, t := range packages {
		say(fmt.Sprintf("%s: building %s (%d of %d)", s.ID, t.Package.ImportPath, i+1, len(packages)))
		pkg, err := s.compilePackage(ctx, t, b.roots, filepath.Join(work, s.ID, strconv.Itoa(i)))
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if errors.Is(err, build.ErrNoToolchain) {
			return nil, err
		}
		if broken := (*BuildError)(nil); errors.As(err, &broken) {
			b.Failed[t.Package.Name()] = broken.Why
			continue
		}
		if err != nil {
			return nil, err
		}
		b.Tests = append(b.Tests, t)
		for _, f := range t.TestFiles {
			pkg.Test = f.Test()
			suite.Packages[t.Key(f)] = pkg
		}
		if b.Go == "" {
			b.readBuildInfo(pkg.Binary)
		}
	}
	b.Packages = suite.Packages
	if len(b.Tests) == 0 && len(packages) > 0 {
		return nil, &BuildError{Side: s.ID, Why: b.Failed[packages[0].Package.Name()]}
	}
	if err := b.hashBinaries(packages, suite); err != nil {
		return nil, err
	}
	suite.Go = b.Go
	if err := os.MkdirAll(filepath.Dir(b.Program), 0o755); err != nil {
		return nil, err
	}
	b.suite = suite
	return b, suite.Save(b.Program)
}

// ReplaceableRoot returns a path of GOROOT by which an overlay may replace files, or "" without such
// a path.
func (b *Suite) ReplaceableRoot() string { return b.roots.replaceable }

// Environment returns the environment that go test gives a package.
func (b *Suite) Environment(key string) []string { return b.suite.Environment(b.Packages[key]) }

// ImportPath returns the import path that a package has on this side.
func (b *Suite) ImportPath(key string) string {
	name := strings.TrimSuffix(key, "_test")
	for _, t := range b.Tests {
		if t.Package.Name() == name {
			return t.Package.ImportPath
		}
	}
	return name
}

// BuildError reports that a side does not build.
type BuildError struct {
	Side string
	Why  string // first line of the compiler's output about the fault
}

// Error is one line.
func (e *BuildError) Error() string { return explainBuild(e.Side, "does not build", e.Why) }

// explainBuild returns why a side was not built, with verb for code that does not build. The text does
// not blame the code if the go command could not try, e.g. without the network.
func explainBuild(side, verb, why string) string {
	if strings.HasPrefix(why, "go: ") || strings.HasPrefix(why, "failed to initialize build cache") {
		return "cannot build " + side + ": " + why
	}
	return side + " " + verb + ": " + why
}

func (b *Suite) readBuildInfo(binary string) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return
	}
	b.Go = info.GoVersion
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.modules = append(b.modules, tare.Module{Path: m.Path, Version: m.Version})
	}
}

func (b *Suite) hashBinaries(packages []Tests, suite gobench.Suite) error {
	h := sha256.New()
	for _, t := range packages {
		if b.Failed[t.Package.Name()] != "" {
			continue
		}
		f, err := os.Open(suite.Packages[t.Key(t.TestFiles[0])].Binary)
		if err != nil {
			return err
		}
		n, err := io.Copy(h, f)
		f.Close()
		if err != nil {
			return err
		}
		b.binaryBytes += n
	}
	b.sha256Hex = hex.EncodeToString(h.Sum(nil))
	return nil
}

// compilePackage builds one package's test binary in dir and, unless s.OneBuild is set, finds the
// command that links it again.
func (s *Side) compilePackage(ctx context.Context, t Tests, roots goRoots, dir string) (gobench.Package, error) {
	pkg := gobench.Package{Binary: filepath.Join(dir, "bench.test"), Dir: t.Package.Dir}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return pkg, err
	}
	isParallel := t.runsParallel() && roots.replaceable != ""
	files, err := t.overlayFiles(isParallel, roots.replaceable)
	if err != nil {
		return pkg, err
	}
	builder := s
	if isParallel && roots.replaceable != roots.path {
		builder = s.withRoot(roots.replaceable)
	}
	file, err := writeOverlay(files, dir)
	if err != nil {
		return pkg, err
	}
	args := s.withFlags("test", "-c", "-vet=off", "-overlay="+file, "-o", pkg.Binary)
	if s.OneBuild {
		_, err = builder.runGo(ctx, append(args, t.Package.ImportPath)...)
		return pkg, err
	}
	ldflags := "-ldflags=" + strings.TrimSpace(s.ldflags+" -s -w "+randLayout+"=1")
	pkg.Link, err = builder.buildLinked(ctx, append(args, ldflags, t.Package.ImportPath), dir)
	if broken := (*BuildError)(nil); errors.As(err, &broken) && strings.Contains(broken.Why, randLayout) {
		// Linkers before Go 1.22 do not have the flag.
		s.OneBuild = true
		_, err = builder.runGo(ctx, append(args, t.Package.ImportPath)...)
	}
	return pkg, err
}

// overlayFiles returns the files of the overlay of a test binary, by path. An overlay replaces files
// for go build. It adds a file of tare to each test package and, if isParallel is set, replaces
// files of package testing in goRoot.
func (t Tests) overlayFiles(isParallel bool, goRoot string) (map[string][]byte, error) {
	files := map[string][]byte{}
	if isParallel {
		var err error
		if files, err = gobench.ParallelFiles(goRoot); err != nil {
			return nil, err
		}
	}
	for _, f := range t.TestFiles {
		text, err := f.Source()
		if err != nil {
			return nil, err
		}
		files[filepath.Join(t.Package.Dir, f.Name())] = text
	}
	return files, nil
}

// writeOverlay writes a file for go build -overlay to dir. files has contents by the replaced
// paths. It returns the path of the overlay.
func writeOverlay(files map[string][]byte, dir string) (string, error) {
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for path, text := range files {
		overlay.Replace[path] = filepath.Join(dir, filepath.Base(path))
		if err := os.WriteFile(overlay.Replace[path], text, 0o644); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, text, 0o644)
}

func (t Tests) runsParallel() bool {
	for _, name := range slices.Concat(t.Package.TestGoFiles, t.Package.XTestGoFiles) {
		text, err := os.ReadFile(filepath.Join(t.Package.Dir, name))
		if err == nil && bytes.Contains(text, []byte("RunParallel")) { // the compiler will report an error
			return true
		}
	}
	return false
}

// randLayout is the linker's flag for another order of functions.
const randLayout = "-randlayout"

// Sources provides the programs of the sides to a study.
type Sources struct {
	Suites map[string]*Suite // by contender id
	Titles map[string]string // description of each side, e.g. v1.2.0 (1f2e3d4c5)
	Module string            // path of the module with the benchmarks
}

var _ lab.Sources = Sources{}

// Program returns the test binaries of a side. The null contender, which shows the cost of measuring
// itself, has none.
func (s Sources) Program(_ context.Context, kind, _ string, e tare.Entry) (build.Program, error) {
	c := tare.Contender{ID: e.ID, Kind: kind, Role: tare.RoleContender, Name: s.Module, Start: tare.Start{Launch: tare.LaunchGobench}}
	if e.ID == tare.NullID {
		c.Why = "nothing is run"
		return build.Program{Cached: true, Contender: c}, nil
	}
	b, ok := s.Suites[e.ID]
	if !ok {
		return build.Program{}, &lab.UnknownError{What: fmt.Sprintf("side %q", e.ID)}
	}
	c.Version, c.Go, c.Modules = s.Titles[e.ID], b.Go, slices.Clone(b.modules)
	if b.Side.Tags != "" {
		c.Flags = append(c.Flags, "-tags="+b.Side.Tags)
	}
	if b.Side.PGO != "" {
		c.Flags = append(c.Flags, "-pgo="+filepath.Base(b.Side.PGO))
	}
	c.Why, c.SHA256, c.BinaryBytes = "the benchmarks of "+s.Module, b.sha256Hex, b.binaryBytes
	return build.Program{Path: b.Program, Cached: true, Contender: c}, nil
}
