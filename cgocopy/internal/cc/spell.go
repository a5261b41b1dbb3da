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

// spellNames finds out how C writes each name: by itself, or with struct, union or enum before it.
// Those of functions follow; unknown names are "", and reported.
func (c Config) spellNames(ctx context.Context, compiler []string, dir string) ([]string, *UnknownError, error) {
	spelled := slices.Concat(c.Types, c.Funcs)
	none := &UnknownError{Headers: c.Headers}
	opaque := map[int]bool{}
	next := map[string]string{"": "struct ", "struct ": "union ", "union ": "enum "}
	for word := ""; ; word = next[word] {
		unknown, err := c.findUnknown(ctx, compiler, spelled, dir)
		if err != nil {
			return nil, nil, err
		}
		for _, i := range unknown {
			if i.n < len(c.Types) && !strings.ContainsRune(c.Types[i.n], ' ') { // struct x declares x
				opaque[i.n] = opaque[i.n] || i.isDeclared(word)
			}
			switch {
			case i.n >= len(c.Types):
				none.Funcs = append(none.Funcs, spelled[i.n])
				spelled[i.n] = ""
			case next[word] != "" && !strings.ContainsRune(c.Types[i.n], ' '):
				spelled[i.n] = next[word] + c.Types[i.n]
			case opaque[i.n]:
				none.Opaque = append(none.Opaque, c.Types[i.n])
				spelled[i.n] = ""
			default:
				none.Types = append(none.Types, c.Types[i.n])
				spelled[i.n] = ""
			}
		}
		if len(unknown) > 0 && next[word] != "" {
			continue
		}
		if len(none.Types)+len(none.Opaque)+len(none.Funcs) == 0 {
			none = nil
		}
		return spelled, none, nil
	}
}

// unknownName is the n-th name, which has no complete type.
type unknownName struct {
	n    int
	text string // the compiler's message
}

// isDeclared reports whether the message about a name that was tried with a word before it means
// that the name is declared.
func (s unknownName) isDeclared(word string) bool {
	switch word {
	case "":
		return strings.Contains(s.text, "incomplete type")
	case "struct ": // which declares it
		return false
	}
	return strings.Contains(s.text, "wrong kind of tag") || strings.Contains(s.text, "does not match previous") || strings.Contains(s.text, "different tag")
}

// findUnknown compiles and returns which of the names do not name a complete type, or a function.
func (c Config) findUnknown(ctx context.Context, compiler, spelled []string, dir string) ([]unknownName, error) {
	var b bytes.Buffer
	b.Write(c.formatSource(spelled))
	for i, name := range spelled[:len(c.Types)] { // an incomplete type has no size
		if name != "" {
			fmt.Fprintf(&b, "#line 1 \"%s\"\nchar __cgocopy_size_%d[sizeof(%s)];\n", placeName(i), i, name)
		}
	}
	err := c.compileSource(ctx, compiler, b.Bytes(), filepath.Join(dir, "probe.o"))
	var said *outputError
	if !errors.As(err, &said) {
		return nil, err
	}
	var list []unknownName
	for _, e := range said.errors {
		n, ok := strings.CutPrefix(filepath.Base(e.File), placePrefix)
		i, numErr := strconv.Atoi(n)
		if !ok || numErr != nil || i >= len(spelled) {
			return nil, said.joinErrors()
		}
		if at := slices.IndexFunc(list, func(s unknownName) bool { return s.n == i }); at >= 0 {
			list[at].text += "\n" + e.Text
			continue
		}
		list = append(list, unknownName{i, e.Text})
	}
	if len(list) == 0 {
		return nil, said.joinErrors()
	}
	slices.SortFunc(list, func(a, b unknownName) int { return a.n - b.n })
	return list, nil
}
