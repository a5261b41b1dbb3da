package catalog

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// scaffolds contains templates for the files of a new contender, a program to compare: those of
// every contender, and for each kind a directory with further files.
//
//go:embed scaffold
var scaffolds embed.FS

// leafName matches the name of a contender, such as my-codec-2.
var leafName = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Kinds returns the kinds of contenders that [Scaffold] can make, such as codec, sorted.
func Kinds() []string {
	entries, _ := fs.ReadDir(scaffolds, "scaffold") // cannot fail: the directory is embedded
	var kinds []string
	for _, e := range entries {
		if e.IsDir() {
			kinds = append(kinds, e.Name())
		}
	}
	return kinds
}

type scaffoldData struct {
	Name    string
	Module  string // module path
	Version string // version of the SDK
	SDK     string // directory for a replace directive; "" for none
}

// Scaffold creates the directory of a new contender, which compiles and passes the conformance suite.
// It is contenders/KIND/NAME if dir is inside the repository, otherwise dir/NAME. Outside of the
// repository, tare finds the SDK when it builds the contender. Scaffold returns the new files, relative
// to dir if they are below it. It never changes existing files. The error is one line.
func Scaffold(c Catalog, kind, name, dir string) (files []string, err error) {
	switch known := Kinds(); {
	case !slices.Contains(known, kind):
		return nil, fmt.Errorf("unknown kind %q; known: %s", kind, strings.Join(known, ", "))
	case !leafName.MatchString(name):
		return nil, fmt.Errorf("%q cannot be a contender's name: lower-case letters, digits and single dashes, e.g. my-codec", name)
	case name == tare.ControlID || name == tare.NullID:
		return nil, fmt.Errorf("%q is reserved", name)
	}
	if leaf, _, err := c.Leaf(kind, name); err == nil {
		return nil, fmt.Errorf("there is a %s called %s already: %s", kind, name, leaf.Dir)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	root, err := Repository(dir)
	inRepository := err == nil
	if err != nil && !errors.Is(err, ErrNone) {
		return nil, err
	}
	target, data := filepath.Join(dir, name), scaffoldData{Name: name, Module: "example.com/" + name}
	data.Version, _ = SDKVersion() // published or not
	if inRepository {
		target = filepath.Join(root, "contenders", kind, name)
		data.Module, data.Version, data.SDK = path.Join(modulePath, "contenders", kind, name), unpublished, "../../.."
	}
	written, err := writeScaffold(target, kind, data)
	if err != nil {
		return nil, err
	}
	for _, f := range written {
		if rel, err := filepath.Rel(dir, f); err == nil && filepath.IsLocal(rel) {
			f = rel
		}
		files = append(files, f)
	}
	return files, nil
}

// writeScaffold makes the directory target with the files of a contender of this kind, and returns
// their paths. After a failure it removes the directory.
func writeScaffold(target, kind string, data scaffoldData) (files []string, err error) {
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return nil, fmt.Errorf("making a contender: %w", err)
	}
	if err := os.Mkdir(target, 0o755); errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s is there already", target)
	} else if err != nil {
		return nil, fmt.Errorf("making a contender: %w", err)
	}
	defer func() {
		if err != nil {
			os.RemoveAll(target)
		}
	}()
	for _, pattern := range []string{"scaffold/*.txt", path.Join("scaffold", kind, "*.txt")} {
		all, err := template.ParseFS(scaffolds, pattern)
		if err != nil {
			return nil, err
		}
		for _, t := range all.Templates() {
			var text strings.Builder
			if err := t.Execute(&text, data); err != nil {
				return nil, err
			}
			file := filepath.Join(target, strings.TrimSuffix(t.Name(), ".txt"))
			if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
				return nil, fmt.Errorf("making a contender: %w", err)
			}
			files = append(files, file)
		}
	}
	slices.Sort(files)
	return files, nil
}
