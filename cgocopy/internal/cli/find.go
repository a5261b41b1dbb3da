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

// makePlan reads the types and decides how they are copied. The error has everything that is wrong
// with any of them.
func (o order) makePlan(ctx context.Context) (*plan.Plan, error) {
	tags, err := readTags(o.tags)
	if err != nil {
		return nil, err
	}
	calls, err := readCalls(o.funcs)
	if err != nil {
		return nil, err
	}
	need, err := o.calledFuncs(calls, tags)
	if err != nil {
		return nil, err
	}
	f, found, unknown := o.findTypes(ctx, need...)
	if f == nil {
		return nil, unknown
	}
	calls, all := withTypes(calls, tags, found)
	for key := range tags { // unknown types have no further errors
		owner, _, _ := strings.Cut(key, ".")
		if slices.Contains(o.types, owner) && found[owner] == nil || found[owner+"()"] == nil && slices.Contains(need, owner) {
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
	if err = errors.Join(unknown, all, err); err != nil {
		return nil, err
	}
	return p, o.checkTarget(f)
}

// maxAlign returns the largest alignment of Go on a file's processor.
func maxAlign(f *object.File) int64 {
	if f.Arch == "386" || f.Arch == "arm" {
		return 4
	}
	return 8
}

// readTags reads the values of -tag by member.
func readTags(list []string) (map[string]plan.Tag, error) {
	tags := map[string]plan.Tag{}
	for _, text := range list {
		member, words, ok := strings.Cut(text, "=")
		if !ok || member == "" || words == "" {
			return nil, usageErrorf("-tag %s: want struct.member=words, e.g. -tag 'device_list.items=,len=items_count'", text)
		}
		if words != "-" && words[0] != ',' { // if Go has a separate field, its member is named here
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

// findTypes finds the requested types. With a cc.UnknownError it returns those that exist; with
// others nothing.
func (o order) findTypes(ctx context.Context, funcs ...string) (*object.File, map[string]*ctype.Type, error) {
	if o.object != "" {
		return o.inObject()
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

func (o order) inObject() (*object.File, map[string]*ctype.Type, error) {
	path := o.object
	if !filepath.IsAbs(path) {
		path = filepath.Join(o.dir, path)
	}
	f, err := object.Open(path, cc.Place(o.dir))
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

// findBuilder returns the command that builds the object file, if a Go file has it in its line
// of go:generate before the one that reads it.
func (o order) findBuilder() string {
	list, err := filepath.Glob(filepath.Join(o.dir, "*.go"))
	if err != nil {
		return ""
	}
	for _, path := range list {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		before := ""
		for line := range strings.Lines(string(data)) {
			command, ok := strings.CutPrefix(strings.TrimSpace(line), "//go:generate ")
			switch {
			case !ok:
			case !strings.Contains(command, o.object):
				before = command
			case before != "":
				if dir := filepath.Dir(path); dir != "." {
					before += " (in " + dir + ")"
				}
				return ": " + before
			}
		}
	}
	return ""
}
