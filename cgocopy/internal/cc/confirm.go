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

// Confirm makes the compiler check claims, constant expressions such as sizeof(T) == 8. It returns the
// compiler's messages about wrong claims, by the index of the claim.
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
	if c.CXX { // without this flag offsetof rejects private members
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
		// The macro offsetof splits its arguments at the commas of a C++ template.
		claim = strings.ReplaceAll(claim, "offsetof(", "__builtin_offsetof(")
		fmt.Fprintf(&b, "#line 1 \"%s\"\n%s(%s, \"it is not\");\n", lineFileName(i), assert, claim)
	}
	err = c.compileSource(ctx, compiler, b.Bytes(), filepath.Join(dir, "confirm.o"))
	var output *outputError
	if !errors.As(err, &output) {
		return nil, err
	}
	wrong := map[int]string{}
	for _, e := range output.errors {
		number, isClaim := strings.CutPrefix(filepath.Base(e.File), lineFilePrefix)
		i, err := strconv.Atoi(number)
		switch {
		case isClaim && err == nil && i < len(claims):
			if wrong[i] == "" {
				wrong[i] = e.Text
			}
		case len(wrong) == 0: // errors elsewhere may follow from the error of a claim
			return nil, output.joinErrors()
		}
	}
	if len(wrong) == 0 {
		return nil, output.joinErrors()
	}
	return wrong, nil
}
