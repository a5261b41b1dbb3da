package rpcstudy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/catalog"
)

// A .proto becomes Go that is built and run. Its comments, options and texts do not
// become code, and no generated file stands outside of its module.
func TestProtoMakesNoCode(t *testing.T) {
	const code = `}; func init() { CANARY() }; type x struct {`
	d := document(t, protoFile(t, `// */ `+code+`
/* // */
syntax = "proto3"; // `+code+`
package canary;
option go_package = "../../../../canary/\";import _ \"os/exec";
/* `+"`"+code+` */
message M {
  // `+code+`
  string a = 1 [json_name = "`+"`"+code+`"]; // `+code+`
  string b = 2 [json_name = "\";CANARY();\""];
  string c = 3 [deprecated = true];
}
// `+code+`
service S {
  // */ `+code+`
  rpc Get(M) returns (M);
}
`))
	from, err := catalog.Open("../../../../contenders")
	if err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	dir, err := Bench{Cache: cache}.Generate(t.Context(), from, d, all)
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	err = filepath.WalkDir(cache, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if inside, err := filepath.Rel(dir, path); err != nil || !filepath.IsLocal(inside) {
			t.Errorf("%s is outside of %s", path, dir)
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		files++
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, i := range file.Imports {
			if name, _ := strconv.Unquote(i.Path.Value); strings.HasPrefix(name, "os/") || strings.Contains(name, "canary/") && strings.Contains(name, "..") {
				t.Errorf("%s imports %s", path, name)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && strings.Contains(id.Name, "CANARY") {
				t.Errorf("%s has %s as code", path, id.Name)
			}
			return true
		})
		return nil
	})
	if err != nil || files < 4 {
		t.Errorf("%d files, %v", files, err)
	}
}
