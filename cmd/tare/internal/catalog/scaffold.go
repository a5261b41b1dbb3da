package catalog

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/tarebench/tare"
)

// scaffolds contains the first files of every new contender, and a directory of further ones per
// kind.
//
//go:embed scaffold
var scaffolds embed.FS

var leafName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Kinds returns the kinds of which Scaffold can make a contender, sorted.
func Kinds() []string {
	entries, _ := fs.ReadDir(scaffolds, "scaffold") // embedded: it exists
	var kinds []string
	for _, e := range entries {
		if e.IsDir() {
			kinds = append(kinds, e.Name())
		}
	}
	return kinds
}

// Scaffold makes a contender that compiles and passes the conformance suite as it is, and returns
// the files it wrote, relative to dir if they are below it. Inside the repository that is
// contenders/KIND/NAME, whatever dir is; elsewhere dir/NAME, whose go.mod requires the SDK by its
// version: it does not contain the SDK's directory on this machine, which tare itself finds when it
// builds the contender. It never changes existing files. The error is one line.
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
	fill := struct{ Name, Module, Version, SDK string }{Name: name, Module: "example.com/" + name}
	fill.Version, _ = SDKVersion()
	at := filepath.Join(dir, name)
	root, err := Repository(dir)
	if err != nil && !errors.Is(err, ErrNone) {
		return nil, err
	}
	if err == nil {
		at = filepath.Join(root, "contenders", kind, name)
		fill.Module, fill.Version, fill.SDK = path.Join(modulePath, "contenders", kind, name), unpublished, "../../.."
	}
	made, err := writeScaffold(at, kind, fill)
	if err != nil {
		return nil, err
	}
	for _, f := range made {
		if rel, err := filepath.Rel(dir, f); err == nil && filepath.IsLocal(rel) {
			f = rel
		}
		files = append(files, f)
	}
	return files, nil
}

// writeScaffold writes the files of a kind into the new directory at, all or none.
func writeScaffold(at, kind string, fill any) (files []string, err error) {
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return nil, fmt.Errorf("making a contender: %w", err)
	}
	if err := os.Mkdir(at, 0o755); errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s is there already", at)
	} else if err != nil {
		return nil, fmt.Errorf("making a contender: %w", err)
	}
	defer func() {
		if err != nil {
			os.RemoveAll(at)
		}
	}()
	for _, pattern := range []string{"scaffold/*.txt", path.Join("scaffold", kind, "*.txt")} {
		all, err := template.ParseFS(scaffolds, pattern)
		if err != nil {
			return nil, err
		}
		for _, t := range all.Templates() {
			var text strings.Builder
			if err := t.Execute(&text, fill); err != nil {
				return nil, err
			}
			file := filepath.Join(at, strings.TrimSuffix(t.Name(), ".txt"))
			if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
				return nil, fmt.Errorf("making a contender: %w", err)
			}
			files = append(files, file)
		}
	}
	slices.Sort(files)
	return files, nil
}
