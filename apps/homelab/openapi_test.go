package homelab_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/homelab"
)

// document is the OpenAPI document, as far as these tests look at it.
type document struct {
	OpenAPI    string `json:"openapi"`
	Info       struct{ Title, Version string }
	Paths      map[string]map[string]operation
	Components struct {
		Headers   map[string]any
		Responses map[string]response
		Schemas   map[string]schema
	}
}

type operation struct {
	OperationID string `json:"operationId"`
	Summary     string
	Parameters  []struct {
		Name, In string
		Required bool
	}
	RequestBody *struct{ Content map[string]content } `json:"requestBody"`
	Responses   map[string]response
}

type response struct {
	Ref         string `json:"$ref"`
	Description string
	Headers     map[string]any
	Content     map[string]content
}

type content struct{ Schema schema }

type schema struct {
	Ref        string `json:"$ref"`
	Type       any    // a name, or a list of names
	Format     string
	Enum       []string
	Required   []string
	Properties map[string]schema
	Items      *schema
}

func read(t *testing.T) document {
	t.Helper()
	var d document
	if err := json.Unmarshal(homelab.OpenAPI(), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// Every endpoint is described, and no other; all can be refused as the package refuses.
func TestOpenAPIPaths(t *testing.T) {
	d := read(t)
	h := newHouse(t, homelab.Config{})
	if d.OpenAPI != "3.1.0" || d.Info.Title != h.Info().Name || d.Info.Version != h.Info().Version {
		t.Errorf("%s of %+v", d.OpenAPI, d.Info)
	}
	var described, ids []string
	for path, operations := range d.Paths {
		for method, o := range operations {
			described = append(described, strings.ToUpper(method)+" "+path)
			ids = append(ids, o.OperationID)
			if o.Summary == "" || o.OperationID == "" {
				t.Errorf("%s %s has no name or summary", method, path)
			}
			want := []string{"200", "405", "421", "429", "500"} // 401 and 421 are what a standalone service answers in front of the app
			if path != "/health" && path != "/metrics" {
				want = append(want, "401")
			}
			if method == "post" {
				want = append(want, "400", "403", "408", "413", "415")
			}
			if strings.Contains(path, "{id}") {
				want = append(want, "404")
			}
			slices.Sort(want)
			if got := slices.Sorted(maps.Keys(o.Responses)); !slices.Equal(got, want) {
				t.Errorf("%s %s: statuses %q, want %q", method, path, got, want)
			}
			if (o.RequestBody != nil) != (method == "post") {
				t.Errorf("%s %s: its body", method, path)
			}
			var named []string
			for _, p := range o.Parameters {
				if p.In == "path" && p.Required {
					named = append(named, "{"+p.Name+"}")
				}
			}
			if got := regexp.MustCompile(`\{\w+\}`).FindAllString(path, -1); !slices.Equal(got, named) {
				t.Errorf("%s %s: parameters %q", method, path, named)
			}
		}
	}
	endpoints := slices.Sorted(slices.Values(h.Info().Endpoints))
	if slices.Sort(described); !slices.Equal(described, endpoints) {
		t.Errorf("described: %q\nendpoints: %q", described, endpoints)
	}
	if slices.Sort(ids); len(slices.Compact(ids)) != len(described) {
		t.Errorf("operations of the same name: %q", ids)
	}
}

// The schemas are those of the package's types: same fields, same types.
func TestOpenAPISchemas(t *testing.T) {
	d := read(t)
	types := map[string]any{
		"Info": homelab.Info{}, "Unit": homelab.Unit{}, "Device": homelab.Device{}, "Command": homelab.Command{},
		"Outcome": homelab.Outcome{}, "Error": homelab.Refusal{},
		"Services": struct {
			Services []homelab.Unit `json:"services"`
		}{},
		"Devices": struct {
			Devices []homelab.Device `json:"devices"`
		}{},
	}
	if got, want := slices.Sorted(maps.Keys(d.Components.Schemas)), slices.Sorted(maps.Keys(types)); !slices.Equal(got, want) {
		t.Errorf("schemas %q, want %q", got, want)
	}
	for name, v := range types {
		s := d.Components.Schemas[name]
		var fields []string
		for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
			key := f.Tag.Get("json")
			if key == "-" {
				continue
			}
			fields = append(fields, key)
			if got, want := kindOf(s.Properties[key]), kindOfType(f.Type); got != want {
				t.Errorf("%s.%s is %s, want %s", name, key, got, want)
			}
		}
		slices.Sort(fields)
		if got := slices.Sorted(maps.Keys(s.Properties)); !slices.Equal(got, fields) {
			t.Errorf("%s has %q, want %q", name, got, fields)
		}
		required := slices.Sorted(slices.Values(s.Required))
		if want := map[bool][]string{true: {"action"}, false: fields}[name == "Command"]; !slices.Equal(required, want) {
			t.Errorf("%s requires %q, want %q", name, required, want)
		}
	}
}

// kindOf is what a schema describes, in short.
func kindOf(s schema) string {
	switch {
	case s.Ref != "":
		return s.Ref[strings.LastIndex(s.Ref, "/")+1:]
	case s.Items != nil:
		return "[]" + kindOf(*s.Items)
	case s.Format != "":
		return s.Format
	}
	if list, ok := s.Type.([]any); ok && len(list) > 0 { // or null
		return list[0].(string)
	}
	name, _ := s.Type.(string)
	return name
}

func kindOfType(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "date-time"
	case t.Kind() == reflect.Struct:
		return t.Name()
	case t.Kind() == reflect.Slice:
		return "[]" + kindOfType(t.Elem())
	case t.Kind() == reflect.Map:
		return "object"
	case t.Kind() == reflect.Int:
		return "integer"
	}
	return t.Kind().String()
}

// Every reference leads somewhere, and everything that can be referred to is.
func TestOpenAPIReferences(t *testing.T) {
	var root any
	if err := json.Unmarshal(homelab.OpenAPI(), &root); err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				visit(e)
			}
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				used[ref] = true
				at := root
				for _, key := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
					inner, _ := at.(map[string]any)
					at = inner[key]
				}
				if at == nil {
					t.Errorf("%s leads nowhere", ref)
				}
			}
			for _, e := range v {
				visit(e)
			}
		}
	}
	visit(root)
	for section, parts := range root.(map[string]any)["components"].(map[string]any) {
		for name := range parts.(map[string]any) {
			if ref := "#/components/" + section + "/" + name; !used[ref] {
				t.Errorf("nothing refers to %s", ref)
			}
		}
	}
}

// What is refused is described, by its code, where it is refused; and what is described can happen.
func TestOpenAPIRefusals(t *testing.T) {
	d := read(t)
	h := newHouse(t, homelab.Config{})
	command := func(id, action string) error {
		_, err := h.Command(id, homelab.Command{Action: action})
		return err
	}
	_, unknown := h.Device("nothing")
	for response, errs := range map[string][]error{
		"BadCommand": {homelab.Malformed(nil), command("light.desk", "burn")},
		"NotFound":   {unknown, command("nothing", "set")},
		"NotAllowed": {homelab.NotAllowed()},
		"ReadOnly":   {command("sensor.door", "set"), homelab.NotAllowed()},
		"TooSlow":    {homelab.TooSlow()},
		"TooLarge":   {homelab.TooLarge()},
		"TooMany":    {homelab.TooMany()},
		"Internal":   {bytes.ErrTooLarge},
	} {
		for _, err := range errs {
			r := h.RefusalOf(err)
			if text := d.Components.Responses[response].Description; !strings.Contains(text, r.Code) {
				t.Errorf("%s does not mention %s: %s", response, r.Code, text)
			}
		}
	}
	for _, action := range d.Components.Schemas["Command"].Properties["action"].Enum {
		if err := command("light.desk", action); err != nil {
			t.Errorf("%s: %v", action, err)
		}
	}
	_, named := d.Components.Responses["TooMany"].Headers["Retry-After"]
	if !named || d.Components.Headers["Retry-After"] == nil {
		t.Error("429 without Retry-After")
	}
}

func TestOpenAPIIsACopy(t *testing.T) {
	first := homelab.OpenAPI()
	clear(first)
	if bytes.Equal(first, homelab.OpenAPI()) {
		t.Error("whoever changes the document changes it for all")
	}
}

// TestNotFoundNamesRoutes: who asks at a path that is none is told those that are.
func TestNotFoundNamesRoutes(t *testing.T) {
	var doc document
	if err := json.Unmarshal(homelab.OpenAPI(), &doc); err != nil || len(doc.Paths) == 0 {
		t.Fatalf("%d paths, %v", len(doc.Paths), err)
	}
	for path := range doc.Paths {
		if text := homelab.NotFound().Error() + " "; !strings.Contains(text, " "+path+" ") && !strings.Contains(text, " "+path+",") {
			t.Errorf("%s is not in %q", path, text)
		}
	}
}
