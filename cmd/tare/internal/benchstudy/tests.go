package benchstudy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
	"github.com/tarebench/tare/cmd/tare/internal/gitrev"
)

// This file implements --tests head: base runs the test files of head. Then a benchmark that the
// change adds or edits is the same on both sides.

// TestsOfHead is the value of --tests with which base runs the tests of head.
const TestsOfHead = "head"

// findRenames returns the paths in head of renamed modules, by the path in base. They are in the
// same directory of both trees.
func (s *sides) findRenames(ctx context.Context) (map[string]string, error) {
	headPaths := map[string]string{} // by directory
	renamed := map[string]string{}
	for _, side := range []*suite.Side{s.head, s.base} {
		modules, err := side.Modules(ctx)
		if err != nil {
			return nil, err
		}
		for _, m := range modules {
			dir, err := filepath.Rel(side.Root, m.Dir)
			if err != nil || !filepath.IsLocal(dir) {
				continue
			}
			if side == s.head {
				headPaths[dir] = m.Path
			} else if head := headPaths[dir]; head != "" && head != m.Path {
				renamed[m.Path] = head
			}
		}
	}
	return renamed, nil
}

// useHeadTests replaces the base by a copy with the tests of head. It returns a text for each
// package with such tests, by its import path in head. Each test file of base that stays has a line
// in kept. Module paths in head are in renamed, by those in base.
func (s *sides) useHeadTests(ctx context.Context, request Request, renamed map[string]string, work string, say func(string)) (headTests map[string]string, kept []string, err error) {
	say("copying the base, with the tests of head")
	prefix, err := filepath.Rel(s.base.Root, s.base.Dir)
	if err != nil {
		return nil, nil, err
	}
	basePaths := map[string]string{} // by path in head
	for base, head := range renamed {
		basePaths[head] = base
	}
	tests, err := gitrev.CopyTests(s.base.Root, s.head.Root, filepath.Join(work, "tests"), func(text []byte) []byte { return renameImports(text, basePaths) })
	if err != nil {
		return nil, nil, err
	}
	if tests.Root, err = filepath.EvalSymlinks(tests.Root); err != nil {
		return nil, nil, err
	}
	s.base.Root, s.base.Dir = tests.Root, filepath.Join(tests.Root, prefix)
	packages, err := s.base.List(ctx, request.Packages)
	if err != nil {
		return nil, nil, err
	}
	headTests = map[string]string{}
	for _, p := range packages {
		dir, err := filepath.Rel(tests.Root, p.Dir)
		dir = filepath.ToSlash(dir)
		if err != nil || p.Dir == "" || len(tests.Changed(dir)) == 0 {
			continue
		}
		say("compiling the tests of head in base: " + p.ImportPath)
		reverted, err := s.compileTests(ctx, tests, p.ImportPath, dir)
		if err != nil {
			return nil, nil, err
		}
		kept = append(kept, reverted...)
		if files := tests.Changed(dir); len(files) > 0 {
			headTests[renamePath(p.ImportPath, renamed)] = "base runs it with the tests of head: " + listFiles(files)
		}
	}
	return headTests, kept, nil
}

// compileTests compiles a package of base with the tests of head. While that fails, it restores test
// files of base: the one that the compiler names, or all. It returns a line about each restored
// file.
func (s *sides) compileTests(ctx context.Context, tests *gitrev.Tests, importPath, dir string) (reverted []string, err error) {
	for {
		err := s.base.CheckTests(ctx, importPath)
		var broken *suite.BuildError
		if !errors.As(err, &broken) {
			return reverted, err
		}
		files := slices.DeleteFunc(tests.Changed(dir), func(name string) bool { return !strings.HasSuffix(name, "_test.go") })
		if len(files) == 0 { // base does not compile at all: a later build reports it
			return reverted, nil
		}
		file, _, _ := strings.Cut(broken.Why, ":")
		if i := slices.Index(files, file); i >= 0 {
			files = files[i : i+1]
		}
		for _, name := range files {
			if err := tests.Revert(name); err != nil {
				return nil, err
			}
			reverted = append(reverted, fmt.Sprintf("base keeps its own %s, or none: that of head does not compile there: %s", name, broken.Why))
		}
	}
}

func listFiles(files []string) string {
	const maxNames = 3
	if more := len(files) - maxNames; more > 0 {
		return strings.Join(files[:maxNames], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(files, ", ")
}

// renamePath returns an import path with the module path that renamed has for it, or unchanged if
// its module is not renamed.
func renamePath(importPath string, renamed map[string]string) string {
	best := ""
	for oldPath := range renamed {
		isInModule := importPath == oldPath || strings.HasPrefix(importPath, oldPath+"/")
		if isInModule && len(oldPath) > len(best) {
			best = oldPath
		}
	}
	if best == "" {
		return importPath
	}
	return renamed[best] + strings.TrimPrefix(importPath, best)
}

// renameImports applies renamePath to the imports of a Go file. A file that does not parse stays as
// it is.
func renameImports(text []byte, renamed map[string]string) []byte {
	if len(renamed) == 0 {
		return text
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", text, parser.ImportsOnly)
	if err != nil {
		return text
	}
	imports := slices.Clone(file.Imports)
	slices.SortFunc(imports, func(a, b *ast.ImportSpec) int { return cmp.Compare(b.Path.Pos(), a.Path.Pos()) })
	for _, spec := range imports { // from the end, so that earlier positions remain valid
		name, err := strconv.Unquote(spec.Path.Value)
		if newName := renamePath(name, renamed); err == nil && newName != name {
			start, end := files.Position(spec.Path.Pos()).Offset, files.Position(spec.Path.End()).Offset
			text = slices.Concat(text[:start], []byte(strconv.Quote(newName)), text[end:])
		}
	}
	return text
}
