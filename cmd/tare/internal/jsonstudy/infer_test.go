package jsonstudy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"strings"
	"testing"

	"github.com/tarebench/tare/kinds/codec"
)

func docsOf(t testing.TB, src string) []codec.Document {
	t.Helper()
	docs, _, err := codec.Documents("x.ndjson", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

func TestInfer(t *testing.T) {
	long := func(format string, n int) string {
		var parts []string
		for i := range n {
			parts = append(parts, fmt.Sprintf(format, i))
		}
		return strings.Join(parts, ",")
	}
	for name, tt := range map[string]struct{ src, want, notes string }{
		"fields": {`{"id":1,"created_at":"x","ratio":1.5,"ok":true,"url":"u","tags":["a"],"none":null}`,
			"ID int64 `json:\"id\"` CreatedAt string `json:\"created_at\"` Ratio float64 `json:\"ratio\"` Ok bool `json:\"ok\"` URL string `json:\"url\"` Tags []string `json:\"tags\"` None any `json:\"none\"`", ""},
		"numbers":       {`{"a":1,"b":1.0,"c":18446744073709551615,"d":-9223372036854775808,"e":1e2,"f":-0}`, "A int64 B float64 C uint64 D int64 E float64 F float64", ""},
		"both":          {"{\"a\":1}\n{\"a\":2.5}", "A float64", ""},
		"too large":     {"{\"a\":1}\n{\"a\":9223372036854775808}", "A float64", "$.a has numbers that no int64 holds: float64, which rounds them"},
		"far too large": {`{"a":123456789012345678901234567890}`, "A float64", "$.a has numbers that no int64 holds: float64, which rounds them"},
		"optional":      {"{\"a\":1}\n{\"b\":[1]}", "A *int64 `json:\"a,omitempty\"` B []int64 `json:\"b,omitempty\"`", ""},
		"nullable":      {"{\"a\":1,\"b\":{\"c\":null}}\n{\"a\":null,\"b\":null}", "A *int64 `json:\"a\"` B *B `json:\"b\"` type B struct { C any `json:\"c\"` }", ""},
		"mixed":         {`{"items":[{"id":1},{"id":"x"}]}`, "Items []Item type Item struct { ID any }", "$.items[].id is string and number: any"},
		"root array":    {`[{"a":1}]`, "type Document []Item type Item struct { A int64 }", ""},
		"root scalar":   {"1\n2.5", "type Document float64", ""},
		"root null":     {`null`, "type Document any", ""},
		"root mixed":    {"[]\n{}", "type Document any", "$ is object and array: any"},
		"nested":        {`{"a":[[{"b":[]}]]}`, "A [][]AItemItem type AItemItem struct { B []any }", ""},
		"names": {`{"id":1,"ID":2,"i d":3,"3d":4,"-":5,"日本":6,"!":7,"$ref":8}`,
			"ID int64 `json:\"id\"` ID2 int64 `json:\"ID\"` ID3 int64 X3d int64 X日本 int64 Field2 int64 `json:\"!\"` Ref int64 `json:\"$ref\"`", ""},
		"types of one name": {`{"user":{"a":1},"other":{"user":{"b":1},"document":{"c":1}}}`, "User User Other Other type User struct type Other struct User User2 Document Document2", ""},
		"empty object":      {`{"a":{}}`, "A map[string]any", ""},
		"keys are numbers":  {`{"by_id":{"17":{"a":1},"18":{"a":2}}}`, "ByID map[string]ByIDItem type ByIDItem struct { A int64 }", `$.by_id is a map: its keys ("17", "18") look like data`},
		"keys vary":         {`{"m":[{` + long(`"k%d":1`, 20) + `},{` + long(`"l%d":1`, 20) + `},{` + long(`"m%d":1`, 20) + `}]}`, "M []map[string]int64", `$.m[] is a map: its keys ("k0", "k1", "k2", …) look like data`},
		"many alike":        {`{"users":{` + long(`"u%d":{"a":1,"b":2}`, 20) + `}}`, "Users map[string]User", `$.users is a map: its keys ("u0", "u1", "u2", …) look like data`},
		"fields, not data":  {`{` + long(`"f%d":1`, 20) + `}`, "F0 int64 F19 int64", ""},
		"tag":               {`{"a,b":{"c":1}}`, "type Document map[string]Item", `$ is a map: its keys ("a,b") look like data`},
		"twice":             {`{"a":1,"a":2,"b":3}`, "A int64 `json:\"a\"` B int64", ""},
		"map null":          {`{"m":{"1":null,"2":{"x":1}}}`, "M map[string]*MItem", `$.m is a map: its keys ("1", "2") look like data`},
	} {
		got, err := Infer(docsOf(t, tt.src))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		flat, at := strings.Join(strings.Fields(got.Source), " "), 0
		for _, word := range strings.Fields(tt.want) {
			i := strings.Index(flat[at:], word)
			if i < 0 {
				t.Errorf("%s: no %s (after %d) in\n%s", name, word, at, got.Source)
				break
			}
			at += i + len(word)
		}
		if strings.Join(got.Notes, "|") != tt.notes {
			t.Errorf("%s: notes %q, want %q", name, got.Notes, tt.notes)
		}
		if err := holds(got, docsOf(t, tt.src)); err != nil {
			t.Errorf("%s: %v\n%s", name, err, got.Source)
		}
	}
}

func TestInferDeep(t *testing.T) {
	for _, tt := range []struct{ begin, end string }{{`[`, `]`}, {`{"a":`, `}`}, {`[{"a":`, `}]`}} {
		for _, n := range []int{40, 400} {
			src := strings.Repeat(tt.begin, n) + "1" + strings.Repeat(tt.end, n)
			got, err := Infer(docsOf(t, src))
			if err != nil {
				t.Fatal(err)
			}
			if err := holds(got, docsOf(t, src)); err != nil {
				t.Errorf("%d × %s: %v", n, tt.begin, err)
			}
			if deep := len(got.Notes) > 0; deep != (n > 100) {
				t.Errorf("%d × %s: %q", n, tt.begin, got.Notes)
			}
		}
	}
}

// FuzzInfer: whatever the documents are, the type compiles, reads each of them,
// and holds all of it.
func FuzzInfer(f *testing.F) {
	for _, s := range []string{`{}`, `[]`, `1`, "null\n[]", "{\"a\":{\"b\":[1,null,\"x\"]}}\n{\"a\":null,\"A\":1}", `{"a b":1,"a-b":2,"a,b":3}`,
		"{\"a\":[{\"b\":1},{\"c\":2.5}],\"1\":{}}", `{"日本":{"-":1},"é":[[[]]],"":0}`, `[1,18446744073709551615,1e300]`, "{\"a\":-0}\n{\"a\":0}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		docs, _, err := codec.Documents("x.ndjson", []byte(src))
		if err != nil {
			return
		}
		got, err := Infer(docs)
		if err != nil {
			t.Fatal(err)
		}
		if err := holds(got, docs); err != nil {
			t.Fatalf("%v\n%s", err, got.Source)
		}
	})
}

// holds compiles a type, without building anything, and has encoding/json read
// the documents into it and write them again.
func holds(t Type, docs []codec.Document) error {
	src := "package own\n\n" + t.Source
	if _, err := format.Source([]byte(src)); err != nil {
		return err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "own.go", src, 0)
	if err != nil {
		return err
	}
	pkg, err := new(types.Config).Check("own", set, []*ast.File{file}, nil)
	if err != nil {
		return err
	}
	root := pkg.Scope().Lookup(rootName)
	if root == nil {
		return errors.New("no " + rootName)
	}
	if err := agrees(t, pkg, root.Type()); err != nil {
		return err
	}
	typ := typeOf(root.Type())
	for _, d := range docs {
		into := reflect.New(typ)
		if err := json.Unmarshal(d.Body, into.Interface()); err != nil {
			return fmt.Errorf("%s: %w", d.Body, err)
		}
		again, err := json.Marshal(into.Interface())
		if err != nil {
			return err
		}
		if err := lost(d.Body, again); err != nil {
			return fmt.Errorf("%s became %s: %w", d.Body, again, err)
		}
	}
	return nil
}

// agrees holds what is said of the type against what it is.
func agrees(t Type, pkg *types.Package, root types.Type) error {
	is, item := "other", ""
	switch u := root.Underlying().(type) {
	case *types.Struct:
		is = "struct"
	case *types.Map:
		is = "map"
	case *types.Slice:
		is = "slice"
		if named, ok := u.Elem().(*types.Named); ok {
			item = named.Obj().Name()
		}
	}
	if is != t.Root || item != t.Item {
		return fmt.Errorf("it is said to be a %s of %q, and is a %s of %q", t.Root, t.Item, is, item)
	}
	return nil
}

// lost compares by the values that any has, but for what counts as left out:
// null where something may be null, and nothing at all.
func lost(want, got []byte) error {
	var w, g any
	if err := json.Unmarshal(want, &w); err != nil {
		return err
	}
	if err := json.Unmarshal(got, &g); err != nil {
		return err
	}
	if w = filled(w); w != nil && !reflect.DeepEqual(w, filled(g)) {
		return errors.New("it does not hold everything")
	}
	return nil
}

// filled is v without keys that hold nothing.
func filled(v any) any {
	switch x := v.(type) {
	case map[string]any:
		for k := range x {
			if x[k] = filled(x[k]); x[k] == nil {
				delete(x, k)
			}
		}
		if len(x) == 0 {
			return nil
		}
	case []any:
		for i := range x {
			x[i] = filled(x[i])
		}
		if len(x) == 0 {
			return nil
		}
	case float64:
		if x == 0 {
			return 0.0 // there is a negative one
		}
	}
	return v
}

// typeOf is a type of go/types as one of package reflect, without its name.
func typeOf(t types.Type) reflect.Type {
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return reflect.PointerTo(typeOf(u.Elem()))
	case *types.Slice:
		return reflect.SliceOf(typeOf(u.Elem()))
	case *types.Map:
		return reflect.MapOf(typeOf(u.Key()), typeOf(u.Elem()))
	case *types.Interface:
		return reflect.TypeFor[any]()
	case *types.Struct:
		var fields []reflect.StructField
		for i := range u.NumFields() {
			fields = append(fields, reflect.StructField{Name: u.Field(i).Name(), Type: typeOf(u.Field(i).Type()), Tag: reflect.StructTag(u.Tag(i))})
		}
		return reflect.StructOf(fields)
	case *types.Basic:
		switch u.Kind() {
		case types.String:
			return reflect.TypeFor[string]()
		case types.Bool:
			return reflect.TypeFor[bool]()
		case types.Int64:
			return reflect.TypeFor[int64]()
		case types.Uint64:
			return reflect.TypeFor[uint64]()
		case types.Float64:
			return reflect.TypeFor[float64]()
		}
	}
	panic(fmt.Sprintf("no type of an inferred one: %v", t))
}

func TestBodies(t *testing.T) {
	docs := docsOf(t, "{\n \"a\":\r\n\"b\\n\"\n}")
	if got := poolBodies(docs); len(got) != 1 || string(got[0]) != "{  \"a\":\r \"b\\n\" }" {
		t.Errorf("%q", got)
	}
	many := make([]codec.Document, 4001)
	for i := range many {
		many[i] = codec.Document{Line: i, Body: []byte("1")}
	}
	if got := Chosen(many); len(got) != maxPool || got[0].Line != 0 || got[999].Line < 3990 || Sizes(got) != "1000 documents of 1 B" {
		t.Errorf("%d of %v", len(got), Sizes(got))
	}
	large := bytes.Repeat([]byte("x"), 5_000_000)
	for i := range many {
		many[i].Body = large
	}
	if got := Chosen(many[:100]); len(got) != 6 || Sizes(got[:1]) != "5 MB document" {
		t.Errorf("%d of %v", len(got), Sizes(got))
	}
}

// Keys become names and tags of generated Go, which is built and run. None of them
// becomes code.
func TestDocumentsMakeNoCode(t *testing.T) {
	const code = `}; func init() { CANARY() }; type x struct {`
	keys := []string{
		"`" + code, `"` + code, "a`; " + code + " `", "a\n" + code, "*/" + code, "//" + code, `\"` + code, "\x00" + code, "a\" b:\"`" + code, "{{CANARY}}", "$(CANARY)", "type", "func", "init", "import \"os/exec\"",
	}
	for _, key := range keys {
		doc, err := json.Marshal(map[string]any{key: map[string]any{key: []any{map[string]any{key: 1, "a": key}}, "b": 2.5}, "c": nil})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Infer(docsOf(t, string(doc)))
		if err != nil {
			t.Errorf("%q: %v", key, err)
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n\n"+got.Source, parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("%q: %v in\n%s", key, err, got.Source)
			continue
		}
		for _, d := range file.Decls {
			if g, ok := d.(*ast.GenDecl); !ok || g.Tok != token.TYPE {
				t.Errorf("%q becomes code: %T in\n%s", key, d, got.Source)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.CallExpr, *ast.FuncLit:
				t.Errorf("%q becomes code in\n%s", key, got.Source)
			}
			return true
		})
	}
}
