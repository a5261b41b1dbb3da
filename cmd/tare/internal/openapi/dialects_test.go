package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// generic reads a document of JSON or YAML with no knowledge of OpenAPI.
func generic(t *testing.T, src []byte) map[string]any {
	t.Helper()
	var doc map[string]any
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	if json.Unmarshal(src, &doc) != nil {
		if err := yaml.Unmarshal(src, &doc); err != nil {
			t.Fatal(err)
		}
	}
	return doc
}

// serverPath returns the path of the first of the servers of o, or outer.
func serverPath(o any, outer string) string {
	m, _ := o.(map[string]any)
	servers, _ := m["servers"].([]any)
	if len(servers) == 0 {
		return outer
	}
	server := servers[0].(map[string]any)
	url := fmt.Sprint(server["url"])
	variables, _ := server["variables"].(map[string]any)
	for name, v := range variables {
		url = strings.ReplaceAll(url, "{"+name+"}", fmt.Sprint(v.(map[string]any)["default"]))
	}
	return "/" + strings.Trim(regexp.MustCompile(`^([a-z]*:)?//[^/]*`).ReplaceAllString(url, ""), "/")
}

// listOperations returns method and path of all operations of a document. Of references it
// knows those of path items to the same document.
func listOperations(doc map[string]any) (list []string) {
	base, isSwagger := doc["basePath"].(string)
	base = "/" + strings.Trim(base, "/")
	if !isSwagger {
		base = serverPath(doc, base)
	}
	paths := doc["paths"].(map[string]any)
	for path, v := range paths {
		item, _ := v.(map[string]any)
		if strings.HasPrefix(path, "x-") || item == nil {
			continue
		}
		to := map[string]any{}
		if ref, ok := item["$ref"].(string); ok && strings.HasPrefix(ref, "#/") {
			var at any = doc
			for key := range strings.SplitSeq(ref[2:], "/") {
				at = at.(map[string]any)[strings.ReplaceAll(key, "~1", "/")]
			}
			to = at.(map[string]any)
		}
		for _, method := range operationKeys() {
			op, ok := item[method]
			if !ok {
				op, ok = to[method]
			}
			if ok {
				list = append(list, strings.ToUpper(method)+" "+strings.TrimSuffix(serverPath(op, serverPath(item, serverPath(to, base))), "/")+path)
			}
		}
	}
	slices.Sort(list)
	return list
}

// TestDialects: documents as programs and people write them. An independent reader finds
// the same operations, and the requests are those of the file NAME.want.
func TestDialects(t *testing.T) {
	files, err := filepath.Glob("testdata/dialects/*")
	if err != nil || len(files) < 12 {
		t.Fatal(files, err)
	}
	for _, file := range append(files, "testdata/api.yaml") {
		if filepath.Ext(file) == ".want" {
			continue
		}
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !IsDocument(src, false) {
			t.Errorf("%s is not recognised", file)
		}
		d, err := Read(filepath.Base(file), src)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, op := range d.Operations {
			got = append(got, op.Method+" "+op.Path)
		}
		slices.Sort(got)
		if want := listOperations(generic(t, src)); !slices.Equal(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", file, got, want)
		}
		if strings.HasSuffix(file, "api.yaml") { // TestCase
			continue
		}
		want, err := os.ReadFile(file + ".want")
		if err != nil {
			t.Fatal(err)
		}
		if text := describe(t, filepath.Base(file), string(src)) + "\n"; text != string(want) {
			t.Errorf("%s:\n%swant\n%s", file, text, want)
		}
	}
}
