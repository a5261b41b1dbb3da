package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHeaderMakesNoCode checks that the name, the comments, the macros and the pragmas of a header run no
// commands, and do not become Go code: generated files are built with the user's program.
func TestHeaderMakesNoCode(t *testing.T) {
	needsC(t)
	for name, header := range map[string]string{
		"plain.h":                         game,
		"$(touch canary).h":               game,
		"a;touch canary;.h":               game,
		"-fplugin=canary.h":               game,
		"a\nfunc init() { CANARY() }\n.h": game,
		"text.h": `/* */
// }; func init() { CANARY() }
#define HEALTH health /* "; func init() { CANARY() } */
_Pragma("message \"$(touch canary)\"")
#pragma GCC poison CANARY
#line 7 "x.h\"; func init() { CANARY() }"
typedef struct { int id __attribute__((annotate("\"; CANARY()"))); double x, y, z; } Point3D;
typedef struct { int id; char name[64]; Point3D position; float HEALTH; int level; } GameObject;
`,
	} {
		dir := t.TempDir()
		write(t, dir, map[string]string{"go.mod": "module canary\n\ngo 1.25.0\n", "ffi.go": "package ffi\n"})
		if err := os.WriteFile(filepath.Join(dir, name), []byte(header), 0o600); err != nil {
			t.Fatal(err)
		}
		code, _, messages := run(t, dir, "gen", "-type", "GameObject", "./"+name)
		if name == "plain.h" && code != 0 {
			t.Fatalf("code %d: %s", code, messages)
		}
		if _, err := os.Lstat(filepath.Join(dir, "canary")); err == nil {
			t.Errorf("%q: something was run", name)
		}
		if strings.ContainsAny(messages, "\x1b\a") {
			t.Errorf("%q: it prints %q", name, messages)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Errorf("%q: %v", name, err)
				continue
			}
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "init" && strings.Contains(string(text), "CANARY") {
					t.Errorf("%q: it has an init", name)
				}
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && strings.Contains(id.Name, "CANARY") {
					t.Errorf("%q: %s is code in\n%s", name, id.Name, text)
				}
				return true
			})
			for _, group := range file.Comments { // cgo reads C and its flags from comments
				for _, line := range strings.Split(group.Text(), "\n") {
					if strings.HasPrefix(line, "#cgo") && strings.Contains(line, "canary") {
						t.Errorf("%q: flags of cgo: %s", name, line)
					}
				}
			}
		}
	}
}
