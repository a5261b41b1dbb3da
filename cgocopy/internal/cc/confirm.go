package cc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// Confirm makes the compiler evaluate constant expressions, e.g. sizeof(T) == 8. It returns, by
// their numbers, the messages about those that are not true or that it rejects.
func Confirm(ctx context.Context, c Config, claims []string) (map[int]string, error) {
	compiler, err := Compiler(c.CC, c.CXX)
	if err != nil {
		return nil, err
	}
	dir, remove, err := makeTempDir()
	if err != nil {
		return nil, err
	}
	defer remove()
	c.Types, c.Funcs = nil, nil
	if c.CXX { // offsetof knows no private members
		c.Flags = append(append([]string{}, c.Flags...), "-fno-access-control")
	}
	var b bytes.Buffer
	b.Write(c.formatSource(nil))
	b.WriteString("#include <stddef.h>\n")
	for _, name := range c.Undefine {
		fmt.Fprintf(&b, "#undef %s\n", name)
	}
	assert := map[bool]string{false: "_Static_assert", true: "static_assert"}[c.CXX]
	for i, claim := range claims {
		// The macro takes a comma between the arguments of a template for one of its own.
		claim = strings.ReplaceAll(claim, "offsetof(", "__builtin_offsetof(")
		fmt.Fprintf(&b, "#line 1 \"%s\"\n%s(%s, \"it is not\");\n", placeName(i), assert, claim)
	}
	err = c.compileSource(ctx, compiler, b.Bytes(), filepath.Join(dir, "confirm.o"))
	var said *outputError
	if !errors.As(err, &said) {
		return nil, err
	}
	wrong := map[int]string{}
	for _, e := range said.errors {
		n, ours := strings.CutPrefix(filepath.Base(e.File), placePrefix)
		i, err := strconv.Atoi(n)
		switch {
		case ours && err == nil && i < len(claims):
			if wrong[i] == "" {
				wrong[i] = e.Text
			}
		case len(wrong) == 0: // else a note that belongs to one of ours
			return nil, said.joinErrors()
		}
	}
	if len(wrong) == 0 {
		return nil, said.joinErrors()
	}
	return wrong, nil
}
