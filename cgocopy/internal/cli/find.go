package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/cc"
	"github.com/tarebench/tare/cgocopy/internal/ctype"
	"github.com/tarebench/tare/cgocopy/internal/object"
	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// makePlan reads the types and plans how they are copied. The error has all faults of all types.
func (o options) makePlan(ctx context.Context) (*plan.Plan, error) {
	tags, err := readTags(o.tags)
	if err != nil {
		return nil, err
	}
	calls, err := readCalls(o.funcs)
	if err != nil {
		return nil, err
	}
	functions, err := o.calledFuncs(calls, tags)
	if err != nil {
		return nil, err
	}
	f, found, unknown := o.findTypes(ctx, functions...)
	if f == nil {
		return nil, unknown
	}
	calls, callErr := withTypes(calls, tags, found)
	for key := range tags { // tags of unknown types and functions would be further errors
		owner, _, _ := strings.Cut(key, ".")
		isUnknownType := slices.Contains(o.types, owner) && found[owner] == nil
		isUnknownFunc := slices.Contains(functions, owner) && found[owner+"()"] == nil
		if isUnknownType || isUnknownFunc {
			delete(tags, key)
		}
	}
	options := plan.Options{Tags: tags, Calls: calls, Word: maxAlign(f), Rust: o.reprC, Big: !f.Little, OmitPointers: o.omit != ""}
	var wanted []plan.Wanted
	for _, name := range o.types {
		if found[name] != nil {
			wanted = append(wanted, plan.Wanted{Name: name, Type: found[name]})
		}
	}
	p, err := plan.Derive(wanted, options)
	if err = errors.Join(unknown, callErr, err); err != nil {
		return nil, err
	}
	return p, o.checkTarget(f)
}

// maxAlign returns the largest alignment in Go, in bytes.
func maxAlign(f *object.File) int64 {
	if f.Arch == "386" || f.Arch == "arm" {
		return 4
	}
	return 8
}

// readTags parses the values of -tag, by member.
func readTags(list []string) (map[string]plan.Tag, error) {
	tags := map[string]plan.Tag{}
	for _, text := range list {
		member, words, ok := strings.Cut(text, "=")
		if !ok || member == "" || words == "" {
			return nil, usageErrorf("-tag %s: want struct.member=words, e.g. -tag 'device_list.items=,len=items_count'", text)
		}
		if words != "-" && words[0] != ',' { // in -tag the key is the name of the member
			words = "," + words
		}
		tag, err := plan.ParseTag(words)
		if err != nil {
			return nil, usageErrorf("-tag %s: %v", member, err)
		}
		if _, twice := tags[member]; twice {
			return nil, usageErrorf("-tag %s is given twice; put all words into one", member)
		}
		tags[member] = tag
	}
	return tags, nil
}

// findTypes returns the object file, and the requested types and functions by name. The names of functions
// are followed by "()". With a cc.UnknownError it returns the types that exist. With other errors the file
// is nil.
func (o options) findTypes(ctx context.Context, funcs ...string) (*object.File, map[string]*ctype.Type, error) {
	if o.object != "" {
		return o.findInObject()
	}
	headers := o.headers
	if len(funcs) > 0 {
		headers = append(append([]string{}, headers...), "<stdlib.h>") // for free
	}
	c, err := o.compilerConfig(ctx)
	if err != nil {
		return nil, nil, err
	}
	c.Headers, c.Types, c.Funcs = headers, o.types, funcs
	f, found, err := cc.Read(ctx, c)
	var unknown *cc.UnknownError
	if errors.As(err, &unknown) {
		unknown.Headers = o.headers
	}
	return f, found, err
}

// findInObject is findTypes for the object file of -object.
func (o options) findInObject() (*object.File, map[string]*ctype.Type, error) {
	path := o.object
	if !filepath.IsAbs(path) {
		path = filepath.Join(o.dir, path)
	}
	f, err := object.Open(path, cc.UserPath(o.dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s is not there; build it first%s", path, o.findBuilder())
	}
	if err != nil {
		return nil, nil, err
	}
	found := map[string]*ctype.Type{}
	unknown := &cc.UnknownError{Headers: []string{path}, Object: true}
	for _, name := range o.types {
		t := f.Type(name)
		if t == nil {
			unknown.Types = append(unknown.Types, name)
			continue
		}
		found[name] = t
		if a, b, twice := f.Clash(name); twice {
			return nil, nil, fmt.Errorf("%s: %s is declared in two ways: %s (%d bytes) and %s (%d bytes); name an object file with one of them", path, name, a.Strip().Pos(), object.SizeOf(a), b.Strip().Pos(), object.SizeOf(b))
		}
	}
	if len(unknown.Types) > 0 {
		return f, found, unknown
	}
	return f, found, nil
}

// findBuilder returns the command that builds the object file, after a colon, for an error message. It is
// in the go:generate line before the one that names the object file. It returns "" without such a line.
func (o options) findBuilder() string {
	list, err := filepath.Glob(filepath.Join(o.dir, "*.go"))
	if err != nil {
		return ""
	}
	for _, path := range list {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		previous := ""
		for line := range strings.Lines(string(data)) {
			command, ok := strings.CutPrefix(strings.TrimSpace(line), "//go:generate ")
			switch {
			case !ok:
				continue
			case !strings.Contains(command, o.object):
				previous = command
			case previous != "":
				if dir := filepath.Dir(path); dir != "." {
					previous += " (in " + dir + ")"
				}
				return ": " + previous
			}
		}
	}
	return ""
}
