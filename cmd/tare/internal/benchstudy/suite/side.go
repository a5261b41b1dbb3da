// Package suite builds the benchmarks of one revision as test binaries ([Build]). It runs them to
// find out how long they take ([Suite.Discover]).
package suite

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// UsageError reports a request that the user has to change.
type UsageError struct {
	What    string
	Nothing bool // the request is valid, but matches no benchmark
}

// Error is one line.
func (e *UsageError) Error() string { return e.What }

// Side has the sources of a compared revision, before the build.
type Side struct {
	ID       string       // base or head
	Dir      string       // working directory of the go command
	Root     string       // top of the tree with Dir: paths in messages start there
	UserDir  string       // user's directory that Dir is a copy of, or Dir
	Go       string       // e.g. go1.25.5; "" means the machine's
	Env      []string     // NAME=value
	Tags     string       // build tags in addition to the user's
	PGO      string       // absolute; "" means the package's own profile, if any
	With     []build.With // other versions of modules (--with)
	OneBuild bool         // otherwise each round links another binary

	modfile  string // go.mod to build with; "" means the tree's
	noModule bool   // Dir is in no module
	tags     string // -tags in the user's GOFLAGS, which an argument would replace
	ldflags  string // -ldflags in the user's GOFLAGS
	goRoot   string // Go installation; "" means that in PATH, which may switch to Go
}

// Module is go list's description of a module.
type Module struct {
	Path, Dir, GoMod string
	Main             bool
}

// Package is a package of a side that has tests.
type Package struct {
	ImportPath, Dir           string
	TestGoFiles, XTestGoFiles []string
	Module                    *Module
	Error                     *struct{ Err string }

	HeadPath string `json:"-"` // import path on the other side; "" if it is the same
}

// Name returns the import path that the package has in a comparison.
func (p Package) Name() string { return cmp.Or(p.HeadPath, p.ImportPath) }

// OutsideWork reports whether the package was not found because go.work does not list its module.
func (p Package) OutsideWork() bool {
	return p.Error != nil && strings.Contains(p.Error.Err, "listed in go.work")
}

// allPatterns returns patterns of all packages below Dir. Above the modules of a go.work, ./...
// does not find them.
func (s *Side) allPatterns(ctx context.Context) ([]string, error) {
	if !s.noModule {
		return []string{"./..."}, nil
	}
	out, err := s.runGo(ctx, "list", "-m", "-f={{.Dir}}")
	if err != nil {
		return nil, err
	}
	var patterns []string
	for dir := range strings.Lines(out) {
		if rel, err := filepath.Rel(s.Dir, strings.TrimSpace(dir)); err == nil && filepath.IsLocal(rel) {
			patterns = append(patterns, "./"+filepath.ToSlash(rel)+"/...")
		}
	}
	return patterns, nil
}

// List returns the packages that match patterns of the go command, or all below Dir without
// patterns. It includes packages with errors.
func (s *Side) List(ctx context.Context, patterns []string) ([]Package, error) {
	if len(patterns) == 0 || slices.Equal(patterns, []string{"./..."}) {
		var err error
		if patterns, err = s.allPatterns(ctx); err != nil {
			return nil, err
		}
	}
	out, err := s.runGo(ctx, s.withFlags("list", append([]string{"-e", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles,Module,Error"}, patterns...)...)...)
	if err != nil {
		return nil, err
	}
	var packages []Package
	for d := json.NewDecoder(strings.NewReader(out)); d.More(); {
		var p Package
		if err := d.Decode(&p); err != nil {
			return nil, fmt.Errorf("%s: read what go list wrote: %w", s.ID, err)
		}
		packages = append(packages, p)
	}
	return packages, nil
}

// Modules returns the modules of the side's packages.
func (s *Side) Modules(ctx context.Context) (modules []Module, err error) {
	out, err := s.runGo(ctx, "list", "-m", "-f={{.Path}}\t{{.Dir}}")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		name, dir, _ := strings.Cut(strings.TrimRight(line, "\r\n"), "\t")
		modules = append(modules, Module{Path: name, Dir: dir, Main: true})
	}
	return modules, nil
}

// CheckTests compiles a package with its tests, without linking. If it does not compile, the error
// is a *BuildError.
func (s *Side) CheckTests(ctx context.Context, importPath string) error {
	_, err := s.runGo(ctx, s.withFlags("list", "-test", "-export", "-f={{.ImportPath}}", importPath)...)
	return err
}

// TestDeps returns the directories of all dependencies of each package's tests, by import path.
func (s *Side) TestDeps(ctx context.Context, packages []string) (map[string][]string, error) {
	out, err := s.runGo(ctx, s.withFlags("list", append([]string{"-e", "-test", "-deps", "-f={{.ImportPath}}\t{{.ForTest}}\t{{.Dir}}\t{{join .Deps \",\"}}"}, packages...)...)...)
	if err != nil {
		return nil, err
	}
	dirs := map[string]string{}
	needs := map[string][]string{} // import paths by the package whose tests need them
	for line := range strings.Lines(out) {
		fields := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(fields) != 4 {
			continue
		}
		path, forTest, dir, imports := fields[0], fields[1], fields[2], strings.Split(fields[3], ",")
		dirs[path] = dir
		tested, isBinary := strings.CutSuffix(path, ".test")
		if !isBinary {
			tested = forTest
		}
		needs[tested] = append(needs[tested], append(imports, path)...)
	}
	deps := map[string][]string{}
	for _, p := range packages {
		for _, name := range needs[p] {
			deps[p] = append(deps[p], dirs[name])
		}
		slices.Sort(deps[p])
		deps[p] = slices.Compact(deps[p])
	}
	return deps, nil
}

func (s *Side) withFlags(command string, args ...string) []string {
	flags := []string{command}
	if s.Tags != "" {
		flags = append(flags, "-tags="+strings.TrimPrefix(s.tags+","+s.Tags, ","))
	}
	if s.PGO != "" {
		flags = append(flags, "-pgo="+s.PGO)
	}
	if s.modfile != "" {
		flags = append(flags, "-modfile="+s.modfile, "-mod=mod")
	}
	return append(flags, args...)
}

// BuildSettings returns the complete environment of the side's builds, and their flags.
func (s *Side) BuildSettings() (env, flags []string) {
	return append(build.Environment(os.Environ()), s.extraEnv()...), s.withFlags("list")[1:]
}

func findFlag(goflags, name string) (value string) {
	for _, flag := range splitWords(goflags) {
		if text, ok := strings.CutPrefix(strings.TrimLeft(flag, "-"), name+"="); ok {
			value = text
		}
	}
	return value
}

// runGo runs the go command and returns its standard output. If it fails, the error is a *BuildError
// with the first line about the fault.
func (s *Side) runGo(ctx context.Context, args ...string) (string, error) {
	out, _, err := s.runGoOutput(ctx, args)
	return out, err
}

func (s *Side) runGoOutput(ctx context.Context, args []string) (stdout, stderr string, err error) {
	cmd, remove := build.GoCommand(ctx, s.Dir, args...)
	defer remove()
	cmd.Env = append(cmd.Env, s.extraEnv()...)
	if s.goRoot != "" {
		cmd.Path, cmd.Err = s.goCommand(), nil
		cmd.Env = append(cmd.Env, "GOROOT="+s.goRoot, "GOTOOLCHAIN=local")
	}
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", "", ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return "", "", build.MissingGo("go")
	case err != nil:
		return "", "", &BuildError{Side: s.ID, Why: s.firstMessage(errOut.String()+out.String(), err)}
	}
	return out.String(), errOut.String(), nil
}

// extraEnv returns variables for the side's go commands. A side in tare's cache must not use a
// go.work above its tree. git must not change the repository's index.
func (s *Side) extraEnv() []string {
	env := []string{"GIT_OPTIONAL_LOCKS=0"}
	if s.Dir != s.UserDir && os.Getenv("GOWORK") != "off" {
		work := "off" // unless the tree has a go.work
		for dir := s.Dir; ; dir = filepath.Dir(dir) {
			if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
				work = filepath.Join(dir, "go.work")
				break
			}
			rel, err := filepath.Rel(s.Root, dir)
			isTop := err != nil || rel == "." || !filepath.IsLocal(rel)
			if isTop {
				break
			}
		}
		env = append(env, "GOWORK="+work)
	}
	if s.Go != "" {
		env = append(env, "GOTOOLCHAIN="+s.Go)
	}
	return append(env, s.Env...)
}

var (
	// positionRE matches a message with a position, e.g. "./parse.go:12:5: undefined: x".
	positionRE = lazyregexp.New(`^(.*?\.[A-Za-z]+):(\d+)(:\d+)?: (.*)$`)
	// headingRE matches lines that do not describe a fault, e.g. "# example.com/parse".
	headingRE = lazyregexp.New(`^(#|FAIL\b|go: (downloading|finding|errors parsing) )`)
)

// firstMessage returns the first line of the go command's output with a position, or else one that
// is not a heading. A line that ends in a colon continues in the next one.
func (s *Side) firstMessage(out string, err error) string {
	first, begun := "", ""
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if line == "" || headingRE.MatchString(line) {
			continue
		}
		if strings.HasSuffix(line, ":") {
			begun = line + " "
			continue
		}
		line, begun = begun+line, ""
		if m := positionRE.FindStringSubmatch(line); m != nil {
			path := strings.TrimPrefix(m[1], "go: ")
			if !filepath.IsAbs(path) {
				path = filepath.Join(s.Dir, path)
			}
			if rel, err := filepath.Rel(s.Root, path); err == nil && filepath.IsLocal(rel) {
				path = filepath.ToSlash(rel)
			}
			return path + ":" + m[2] + m[3] + ": " + m[4]
		}
		if first == "" {
			first = line
		}
	}
	if first == "" {
		first = err.Error()
	}
	return strings.ReplaceAll(first, s.Root+string(filepath.Separator), "")
}

// CompilerOutput compiles the package tested with its tests, and packages without theirs. It
// returns the compiler's output, and the directory of its paths.
func (s *Side) CompilerOutput(ctx context.Context, flags, tested string, packages []string) (output, dir string, err error) {
	_, output, err = s.runGoOutput(ctx, s.withFlags("test", "-c", "-vet=off", "-o", os.DevNull, "-gcflags="+flags, tested))
	if err != nil || len(packages) == 0 {
		return output, s.Dir, err
	}
	_, more, err := s.runGoOutput(ctx, s.withFlags("build", append([]string{"-o", os.DevNull, "-gcflags=" + flags}, packages...)...))
	return output + more, s.Dir, err
}
