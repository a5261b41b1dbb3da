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

// TestsOfHead is the value of --tests with which base runs the tests of head.
const TestsOfHead = "head"

// findRenames returns the modules that have another path in head, by their path in base: those in
// the same directory of the tree are one module.
func (s *sides) findRenames(ctx context.Context) (map[string]string, error) {
	paths := map[string]string{}
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
				paths[dir] = m.Path
			} else if head := paths[dir]; head != "" && head != m.Path {
				renamed[m.Path] = head
			}
		}
	}
	return renamed, nil
}

// useHeadTests replaces the base by a copy with the tests of head, as far as they
// compile there, and returns what is to be reported of each package by its import path
// in head.
func (s *sides) useHeadTests(ctx context.Context, a Asked, renamed map[string]string, work string, say func(string)) (about map[string]string, kept []string, err error) {
	say("copying the base, with the tests of head")
	prefix, err := filepath.Rel(s.base.Root, s.base.Dir)
	if err != nil {
		return nil, nil, err
	}
	back := map[string]string{}
	for base, head := range renamed {
		back[head] = base
	}
	tests, err := gitrev.CopyTests(s.base.Root, s.head.Root, filepath.Join(work, "tests"), func(text []byte) []byte { return renameImports(text, back) })
	if err != nil {
		return nil, nil, err
	}
	if tests.Root, err = filepath.EvalSymlinks(tests.Root); err != nil {
		return nil, nil, err
	}
	s.base.Root, s.base.Dir = tests.Root, filepath.Join(tests.Root, prefix)
	packages, err := s.base.List(ctx, a.Packages)
	if err != nil {
		return nil, nil, err
	}
	about = map[string]string{}
	for _, p := range packages {
		dir, err := filepath.Rel(tests.Root, p.Dir)
		if err != nil || p.Dir == "" || len(tests.Changed(filepath.ToSlash(dir))) == 0 {
			continue
		}
		dir = filepath.ToSlash(dir)
		say("compiling the tests of head in base: " + p.ImportPath)
		reverted, err := s.compileTests(ctx, tests, p.ImportPath, dir)
		if err != nil {
			return nil, nil, err
		}
		kept = append(kept, reverted...)
		if files := tests.Changed(dir); len(files) > 0 {
			about[renamePath(p.ImportPath, renamed)] = "base runs it with the tests of head: " + listFiles(files)
		}
	}
	return about, kept, nil
}

// compileTests reverts tests of head in a package until the others compile. It returns a line about
// each file that it reverted.
func (s *sides) compileTests(ctx context.Context, tests *gitrev.Tests, importPath, dir string) (reverted []string, err error) {
	for {
		err := s.base.CheckTests(ctx, importPath)
		var broken *suite.BuildError
		if !errors.As(err, &broken) {
			return reverted, err
		}
		files := slices.DeleteFunc(tests.Changed(dir), func(name string) bool { return !strings.HasSuffix(name, "_test.go") })
		if len(files) == 0 { // it is the base that does not compile
			return reverted, nil
		}
		file, _, _ := strings.Cut(broken.Why, ":")
		if at := slices.Index(files, file); at >= 0 {
			files = files[at : at+1]
		}
		for _, name := range files {
			if err := tests.Revert(name); err != nil {
				return nil, err
			}
			reverted = append(reverted, fmt.Sprintf("base keeps its own %s, or none: that of head does not compile there: %s", name, broken.Why))
		}
	}
}

// listFiles names a few files.
func listFiles(files []string) string {
	const most = 3
	if more := len(files) - most; more > 0 {
		return strings.Join(files[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(files, ", ")
}

// renamePath returns an import path with the module path of the other side.
func renamePath(importPath string, renamed map[string]string) string {
	best := ""
	for from := range renamed {
		if (importPath == from || strings.HasPrefix(importPath, from+"/")) && len(from) > len(best) {
			best = from
		}
	}
	if best == "" {
		return importPath
	}
	return renamed[best] + strings.TrimPrefix(importPath, best)
}

// renameImports changes the paths that a Go file imports. It returns a file that does not parse
// unchanged.
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
	for _, spec := range imports { // from the end, so that positions stay
		name, err := strconv.Unquote(spec.Path.Value)
		if is := renamePath(name, renamed); err == nil && is != name {
			from, to := files.Position(spec.Path.Pos()).Offset, files.Position(spec.Path.End()).Offset
			text = slices.Concat(text[:from], []byte(strconv.Quote(is)), text[to:])
		}
	}
	return text
}
