package users_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/users"
)

// document is the OpenAPI document, as far as these tests look at it.
type document struct {
	OpenAPI string
	Paths   map[string]map[string]struct {
		OperationID, Summary string
		Parameters           []struct{ Name, In string }
		RequestBody          any
		Responses            map[string]map[string]any
	}
	Components struct {
		Responses map[string]struct{ Description string }
		Schemas   map[string]struct {
			Required   []string
			Properties map[string]struct {
				Type, Format         string
				Enum                 []users.Code
				MinLength, MaxLength int
				Maximum              int
			}
		}
	}
}

func read(t *testing.T) (d document) {
	t.Helper()
	if err := json.Unmarshal(users.OpenAPI(), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// What the package's documentation lists is described, and nothing else, each with
// the statuses that it can have.
func TestOpenAPIPaths(t *testing.T) {
	d := read(t)
	source, err := os.ReadFile("users.go")
	if err != nil {
		t.Fatal(err)
	}
	var listed, described []string
	for _, m := range regexp.MustCompile(`(?m)^//\t([A-Z]+) +(/[^ ?]*)`).FindAllStringSubmatch(string(source), -1) {
		listed = append(listed, m[1]+" "+m[2])
	}
	ids := map[string]bool{}
	for path, operations := range d.Paths {
		for method, o := range operations {
			described = append(described, strings.ToUpper(method)+" "+path)
			ids[o.OperationID] = true
			if o.Summary == "" {
				t.Errorf("%s %s has no summary", method, path)
			}
			body := method == "post" || method == "put"
			if (o.RequestBody != nil) != body {
				t.Errorf("%s %s: its body", method, path)
			}
			want := []string{"405", "421", "429", "500"} // 401, 415 and 421 are what a standalone service answers in front of the app
			if path != "/health" {
				want = append(want, "400", "401", "499", "503", "504")
			}
			if body {
				want = append(want, "409", "413", "415")
			}
			if strings.Contains(path, "{id}") {
				want = append(want, "404")
			}
			want = append(want, map[bool]string{true: "201", false: "200"}[method == "post"])
			slices.Sort(want)
			if got := slices.Sorted(maps.Keys(o.Responses)); !slices.Equal(got, want) {
				t.Errorf("%s %s: statuses %q, want %q", method, path, got, want)
			}
		}
	}
	slices.Sort(listed)
	slices.Sort(described)
	if len(listed) < 6 || !slices.Equal(listed, described) || len(ids) != len(described) {
		t.Errorf("listed %q, described %q under %d names", listed, described, len(ids))
	}
}

// The schemas are those of the package's types and bounds.
func TestOpenAPISchemas(t *testing.T) {
	d := read(t)
	types := map[string]any{"User": users.User{}, "Draft": users.Draft{}, "Page": users.Page{}, "Error": users.Error{}, "Deleted": struct{}{}}
	if got, want := slices.Sorted(maps.Keys(d.Components.Schemas)), slices.Sorted(maps.Keys(types)); !slices.Equal(got, want) {
		t.Errorf("schemas %q, want %q", got, want)
	}
	formats := map[reflect.Type]string{reflect.TypeFor[time.Time](): "date-time", reflect.TypeFor[int64](): "int64", reflect.TypeFor[int](): "int32"}
	for name, v := range types {
		s := d.Components.Schemas[name]
		var fields []string
		for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
			if !f.IsExported() {
				continue
			}
			key := f.Tag.Get("json")
			fields = append(fields, key)
			if p := s.Properties[key]; formats[f.Type] != p.Format && p.Format != "email" {
				t.Errorf("%s.%s has format %q", name, key, p.Format)
			}
		}
		slices.Sort(fields)
		required := slices.Sorted(slices.Values(s.Required))
		if got := slices.Sorted(maps.Keys(s.Properties)); !slices.Equal(got, fields) || !slices.Equal(required, fields) {
			t.Errorf("%s has %q and requires %q, want %q", name, got, required, fields)
		}
	}
	for _, name := range []string{"User", "Draft"} {
		p := d.Components.Schemas[name].Properties
		if p["name"].MinLength != users.MinName || p["name"].MaxLength != users.MaxName || p["email"].MaxLength != users.MaxEmail {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if p := d.Components.Schemas["Page"].Properties; p["limit"].Maximum != users.MaxLimit {
		t.Errorf("%+v", p)
	}
	if got := d.Components.Schemas["Error"].Properties["code"].Enum; !slices.Equal(got, users.Codes()) {
		t.Errorf("codes %q", got)
	}
}

// Every reference leads somewhere, and everything that can be referred to is.
func TestOpenAPIReferences(t *testing.T) {
	var root map[string]any
	if err := json.Unmarshal(users.OpenAPI(), &root); err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, m := range regexp.MustCompile(`"\$ref": "#/([^"]*)"`).FindAllSubmatch(users.OpenAPI(), -1) {
		used[string(m[1])] = true
		var at any = root
		for _, key := range strings.Split(string(m[1]), "/") {
			inner, _ := at.(map[string]any)
			at = inner[key]
		}
		if at == nil {
			t.Errorf("%s leads nowhere", m[1])
		}
	}
	for section, parts := range root["components"].(map[string]any) {
		for name := range parts.(map[string]any) {
			if !used["components/"+section+"/"+name] {
				t.Errorf("nothing refers to %s %s", section, name)
			}
		}
	}
	for status, name := range map[string]string{"400": "Bad", "404": "NotFound", "405": "NotAllowed", "409": "Taken", "413": "TooLarge", "429": "TooMany", "499": "Gone", "500": "Internal", "503": "Unavailable", "504": "TooLate"} {
		if d := read(t).Components.Responses[name].Description; !slices.ContainsFunc(users.Codes(), func(c users.Code) bool { return strings.HasPrefix(d, string(c)+": ") }) {
			t.Errorf("%s %s: no code in %q", status, name, d)
		}
	}
}

func TestOpenAPIIsACopy(t *testing.T) {
	first := users.OpenAPI()
	clear(first)
	if bytes.Equal(first, users.OpenAPI()) {
		t.Error("whoever changes the document changes it for all")
	}
}

// TestNotFoundNamesRoutes: who asks at a path that is none is told those that are.
func TestNotFoundNamesRoutes(t *testing.T) {
	var doc document
	if err := json.Unmarshal(users.OpenAPI(), &doc); err != nil || len(doc.Paths) == 0 {
		t.Fatalf("%d paths, %v", len(doc.Paths), err)
	}
	for path := range doc.Paths {
		if text := users.NoPath().Error() + " "; !strings.Contains(text, " "+path+" ") && !strings.Contains(text, " "+path+",") {
			t.Errorf("%s is not in %q", path, text)
		}
	}
}
