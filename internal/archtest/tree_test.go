package archtest

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Tree is the parsed Go source of a repository.
type Tree struct {
	Root    string // path of the root module
	Modules []Module
	Files   []*File
	Paths   map[string]bool   // slash paths of all files, relative to the root
	Work    []string          // directories that go.work uses
	Builds  map[string]string // directory of the source, by the directory of a contender that builds another one's source
	fset    *token.FileSet
}

// File is one Go file.
type File struct {
	Path      string // slash path relative to the root
	Dir       string
	Test      bool // a _test.go file
	Generated bool // has the "Code generated" line
	Lines     int
	AST       *ast.File
}

// Imports returns the import paths of the file with their positions.
func (f *File) Imports() map[string]token.Pos {
	out := map[string]token.Pos{}
	for _, spec := range f.AST.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			out[p] = spec.Pos()
		}
	}
	return out
}

// Read parses every Go file, go.mod and go.work in fsys. It skips the directories that isSkipped names.
func Read(fsys fs.FS) (*Tree, error) {
	t := &Tree{Paths: map[string]bool{}, Builds: map[string]string{}, fset: token.NewFileSet()}
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if p != "." && isSkipped(d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		t.Paths[p] = true
		return t.addFile(fsys, p)
	})
	if err != nil {
		return nil, fmt.Errorf("read source: %w", err)
	}
	for _, m := range t.Modules {
		if m.Dir == "." {
			t.Root = m.Path
		}
	}
	if t.Root == "" {
		return nil, fmt.Errorf("read source: no go.mod with a module line at the root")
	}
	return t, nil
}

// isSkipped reports whether directories with that name are skipped: those that the go command skips, and
// out.
func isSkipped(name string) bool {
	return name == "testdata" || name == "vendor" || name == "out" || name[0] == '.' || name[0] == '_'
}

// addFile adds the file at p to the tree, if it is a Go file, a module file or a manifest.
func (t *Tree) addFile(fsys fs.FS, p string) error {
	name := path.Base(p)
	if matchPath("contenders/*/*/contender.json", p) {
		return t.addBuild(fsys, p)
	}
	if name != "go.mod" && name != "go.work" && path.Ext(name) != ".go" {
		return nil
	}
	src, err := fs.ReadFile(fsys, p)
	if err != nil {
		return err
	}
	switch name {
	case "go.mod":
		t.Modules = append(t.Modules, readModule(path.Dir(p), string(src)))
		return nil
	case "go.work":
		for _, v := range parseMod(string(src)) {
			if v[0] == "use" && len(v) == 2 {
				t.Work = append(t.Work, path.Clean(v[1]))
			}
		}
		return nil
	}
	parsed, err := parser.ParseFile(t.fset, p, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	t.Files = append(t.Files, &File{
		Path:      p,
		Dir:       path.Dir(p),
		Test:      strings.HasSuffix(name, "_test.go"),
		Generated: ast.IsGenerated(parsed),
		Lines:     t.fset.File(parsed.Pos()).LineCount(),
		AST:       parsed,
	})
	return nil
}

// addBuild records the source that the manifest at p names, if any. It ignores manifests that it cannot
// parse.
func (t *Tree) addBuild(fsys fs.FS, p string) error {
	src, err := fs.ReadFile(fsys, p)
	if err != nil {
		return err
	}
	var manifest struct {
		Source string `json:"source"`
	}
	if json.Unmarshal(src, &manifest) == nil && manifest.Source != "" {
		t.Builds[path.Dir(p)] = path.Join(path.Dir(p), manifest.Source)
	}
	return nil
}

// isUnder reports whether dir is one of roots or below one.
func isUnder(dir string, roots ...string) bool {
	for _, root := range roots {
		if dir == root || strings.HasPrefix(dir, root+"/") {
			return true
		}
	}
	return false
}

// localDir returns the directory of an imported package. It returns false if the package is not in the root
// module or below its path.
func (t *Tree) localDir(importPath string) (dir string, ok bool) {
	if importPath == t.Root {
		return ".", true
	}
	return strings.CutPrefix(importPath, t.Root+"/")
}

// position returns a position as file:line.
func (t *Tree) position(pos token.Pos) string {
	p := t.fset.Position(pos)
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}
