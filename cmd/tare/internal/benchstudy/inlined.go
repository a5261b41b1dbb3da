package benchstudy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/counts"
	"github.com/tarebench/tare/cmd/tare/internal/profile"
)

// This file finds inlined functions. If the compiler inlines isX into parse, counts belong to parse, at
// lines of isX.

// findInlined returns the function that is declared around the line of a place, if it is not the
// function of the place: it is inlined there. It returns "" if the source cannot be read.
func findInlined(p counts.Place) string {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, p.File, nil, parser.SkipObjectResolution)
	if err != nil {
		return ""
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || p.Line < files.Position(f.Pos()).Line || p.Line > files.Position(f.End()).Line {
			continue
		}
		declared := profile.DeclaredFunction(p.Function)
		if declared[strings.LastIndexByte(declared, '.')+1:] == f.Name.Name {
			return ""
		}
		// A package has the name of its directory, as a rule. Of another package the path is unknown.
		if pkg := profile.PackageOf(p.Function); isNamedAs(pkg, file.Name.Name) {
			return pkg + "." + f.Name.Name
		}
		return file.Name.Name + "." + f.Name.Name
	}
	return ""
}

// isNamedAs reports whether name is that of a package with this import path, which may end with a
// major version.
func isNamedAs(importPath, name string) bool {
	return path.Base(importPath) == name || path.Base(path.Dir(importPath)) == name
}
