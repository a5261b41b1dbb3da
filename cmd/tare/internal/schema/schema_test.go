// Package schema holds the published JSON schemas against the code: what tare
// reads and writes is what they describe.
package schema

import (
	"bytes"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// docs is a path in the documentation.
func docs(elem ...string) string {
	return filepath.Join(append([]string{"..", "..", "..", "..", "docs"}, elem...)...)
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	src, err := os.ReadFile(docs("schema", name))
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func decode(t *testing.T, src []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(src))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// compile reads a schema, which must itself be valid.
func compile(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name, decode(t, read(t, name))); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// places are the paths of all values in a document.
func places(v any, path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		each := func(key string, item any) bool {
			at := path + "/" + key
			if !yield(at) {
				return false
			}
			for p := range places(item, at) {
				if !yield(p) {
					return false
				}
			}
			return true
		}
		switch v := v.(type) {
		case map[string]any:
			for key, item := range v {
				if !each(key, item) {
					return
				}
			}
		case []any:
			for i, item := range v {
				if !each(fmt.Sprint(i), item) {
					return
				}
			}
		}
	}
}

// change replaces the value at path.
func change(doc any, path string, to func(any) any) {
	first, rest, more := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch v := doc.(type) {
	case map[string]any:
		if more {
			change(v[first], rest, to)
		} else {
			v[first] = to(v[first])
		}
	case []any:
		i, _ := strconv.Atoi(first)
		if more {
			change(v[i], rest, to)
		} else {
			v[i] = to(v[i])
		}
	}
}
