package cc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

type unknownName struct {
	index int    // among the spelled names
	text  string // of the compiler, one line each
}

// spellNames finds out how C writes each wanted type: with or without struct, union or enum before the
// name. It compiles the names in one spelling after another. The result has the spellings of c.Types, then
// c.Funcs. Unknown names are "" in it. The UnknownError is nil if all names are known.
func (c Config) spellNames(ctx context.Context, compiler []string, dir string) ([]string, *UnknownError, error) {
	spelled := slices.Concat(c.Types, c.Funcs)
	notFound := &UnknownError{Headers: c.Headers}
	opaque := map[int]bool{}                                                         // of types that are declared but not defined
	next := map[string]string{"": "struct ", "struct ": "union ", "union ": "enum "} // "enum " has no next
	for word := ""; ; word = next[word] {
		unknown, err := c.findUnknown(ctx, compiler, spelled, dir)
		if err != nil {
			return nil, nil, err
		}
		for _, name := range unknown {
			i := name.index
			isType := i < len(c.Types)
			// A name with a blank is complete. Our anchor "struct x *" would itself declare x.
			isBare := isType && !strings.ContainsRune(c.Types[i], ' ')
			if isBare {
				opaque[i] = opaque[i] || name.isDeclared(word)
			}
			switch {
			case !isType:
				notFound.Funcs = append(notFound.Funcs, spelled[i])
				spelled[i] = ""
			case next[word] != "" && isBare:
				spelled[i] = next[word] + c.Types[i]
			case opaque[i]:
				notFound.Opaque = append(notFound.Opaque, c.Types[i])
				spelled[i] = ""
			default:
				notFound.Types = append(notFound.Types, c.Types[i])
				spelled[i] = ""
			}
		}
		if len(unknown) > 0 && next[word] != "" {
			continue
		}
		if len(notFound.Types)+len(notFound.Opaque)+len(notFound.Funcs) == 0 {
			notFound = nil
		}
		return spelled, notFound, nil
	}
}

// isDeclared reports whether the headers declare a name without defining it, by the messages about it. word
// was before the name when the compiler rejected it.
func (s unknownName) isDeclared(word string) bool {
	switch word {
	case "":
		return strings.Contains(s.text, "incomplete type")
	case "struct ": // "struct x" declares x, so that the messages are the same for any name
		return false
	}
	return strings.Contains(s.text, "wrong kind of tag") || strings.Contains(s.text, "does not match previous") || strings.Contains(s.text, "different tag")
}

// findUnknown compiles the source with the spelled names. It returns undefined types and undeclared
// functions, sorted by index. Errors elsewhere, e.g. in the headers, are its error.
func (c Config) findUnknown(ctx context.Context, compiler, spelled []string, dir string) ([]unknownName, error) {
	var b bytes.Buffer
	b.Write(c.formatSource(spelled))
	for i, name := range spelled[:len(c.Types)] { // sizeof rejects incomplete types
		if name != "" {
			fmt.Fprintf(&b, "#line 1 \"%s\"\nchar __cgocopy_size_%d[sizeof(%s)];\n", lineFileName(i), i, name)
		}
	}
	err := c.compileSource(ctx, compiler, b.Bytes(), filepath.Join(dir, "probe.o"))
	var output *outputError
	if !errors.As(err, &output) {
		return nil, err
	}
	var list []unknownName
	for _, e := range output.errors {
		number, ok := strings.CutPrefix(filepath.Base(e.File), lineFilePrefix)
		i, numErr := strconv.Atoi(number)
		if !ok || numErr != nil || i >= len(spelled) {
			return nil, output.joinErrors()
		}
		if known := slices.IndexFunc(list, func(s unknownName) bool { return s.index == i }); known >= 0 {
			list[known].text += "\n" + e.Text
			continue
		}
		list = append(list, unknownName{i, e.Text})
	}
	if len(list) == 0 {
		return nil, output.joinErrors()
	}
	slices.SortFunc(list, func(a, b unknownName) int { return a.index - b.index })
	return list, nil
}
