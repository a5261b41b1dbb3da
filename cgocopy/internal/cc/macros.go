package cc

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Macros returns those of names that the headers define as macros without parameters, sorted. The compiler
// would replace a member of this name by the macro's text. Macros that expand to their own name do not
// count.
func Macros(ctx context.Context, c Config, names []string) ([]string, error) {
	compiler, err := Compiler(c.CC, c.CXX)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	dir, remove, err := makeTempDir()
	if err != nil {
		return nil, err
	}
	defer remove()
	c.Types, c.Funcs = nil, nil
	out := filepath.Join(dir, "macros.i")
	if err := c.compileSource(ctx, compiler, append(c.formatSource(nil), "#include <stddef.h>\n"...), out, "-E", "-dM"); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(out)
	if err != nil {
		return nil, fmt.Errorf("%s listed no macros with -E -dM: is it a C compiler?", strings.Join(compiler, " "))
	}
	var found []string
	for line := range strings.Lines(string(text)) {
		definition, ok := strings.CutPrefix(strings.TrimSpace(line), "#define ")
		name, value, _ := strings.Cut(definition, " ")
		if ok && name != value && slices.Contains(names, name) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found, nil
}
