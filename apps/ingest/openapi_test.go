package ingest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// document is what this test reads of openapi.json.
type document struct {
	OpenAPI    string
	Paths      map[string]map[string]operation
	Components struct {
		Schemas   map[string]schema
		Responses map[string]response
	}
}

type operation struct {
	OperationID string
	Parameters  []struct {
		Name   string
		Schema schema
	}
	RequestBody struct {
		Description string
		Content     map[string]content
	}
	Responses map[string]response
}

type response struct {
	Ref         string `json:"$ref"`
	Description string
	Headers     map[string]any
	Content     map[string]content
}

type content struct {
	Schema  schema
	Example json.RawMessage
}

type schema struct {
	Ref         string `json:"$ref"`
	Type        string
	Format      string
	Description string
	Const       string
	Enum        []string
	Required    []string
	Properties  map[string]schema
	AllOf       []schema
	AnyOf       []schema
	Items       *schema
	MinItems    int
	MaxItems    int
	MinLength   int
}

func described(t *testing.T) document {
	t.Helper()
	var d document
	if err := json.Unmarshal(OpenAPI(), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// at is a response, where it is referred to as well.
func (d document) at(t *testing.T, r response) response {
	t.Helper()
	if r.Ref == "" {
		return r
	}
	found, ok := d.Components.Responses[strings.TrimPrefix(r.Ref, "#/components/responses/")]
	if !ok {
		t.Errorf("nothing is at %s", r.Ref)
	}
	return found
}

// schemaOf is what the description has to say of a type.
func schemaOf(typ reflect.Type) schema {
	switch typ.Kind() {
	case reflect.String:
		return schema{Type: "string"}
	case reflect.Bool:
		return schema{Type: "boolean"}
	case reflect.Float64:
		return schema{Type: "number", Format: "double"}
	case reflect.Int, reflect.Int64:
		return schema{Type: "integer", Format: "int64"}
	case reflect.Slice:
		return schema{Ref: "#/components/schemas/Metadata"}
	case reflect.Struct:
		if typ == reflect.TypeFor[Time]() {
			return schema{AnyOf: []schema{{Type: "number"}, {Type: "string", Format: "date-time"}}}
		}
		return schema{Ref: "#/components/schemas/" + typ.Name()}
	}
	return schema{}
}

func TestDescribedTypes(t *testing.T) {
	d := described(t)
	required := map[string][]string{"Record": {"id", "timestamp", "metadata"}, "Receipt": {"accepted", "bytes"}, "Refusal": {"error", "message"}}
	for name, v := range map[string]any{"Record": RawRecord{}, "TypedMetadata": Metadata{}, "Receipt": Receipt{}, "Refusal": Refusal{}} {
		typ := reflect.TypeOf(v)
		got, ok := d.Components.Schemas[name]
		if !ok || got.Type != "object" || !slices.Equal(got.Required, required[name]) {
			t.Errorf("%s: %+v, which requires %q, want %q", typ, got.Type, got.Required, required[name])
		}
		names := map[string]bool{}
		for i := range typ.NumField() {
			name := typ.Field(i).Tag.Get("json")
			if name == "-" {
				continue
			}
			names[name] = true
			have, want := got.Properties[name], schemaOf(typ.Field(i).Type)
			small := have.Format == "" && have.Type == "integer" // a count needs no format
			if have.Ref != want.Ref || have.Type != want.Type || have.Format != want.Format && !small || !slices.EqualFunc(have.AnyOf, want.AnyOf, func(a, b schema) bool { return a.Type == b.Type && a.Format == b.Format }) {
				t.Errorf("%s.%s: %+v, want %+v", typ, name, have, want)
			}
			if have.Ref == "" && have.Description == "" {
				t.Errorf("%s.%s is not described", typ, name)
			}
		}
		for name := range got.Properties {
			if !names[name] {
				t.Errorf("%s has no field %s", typ, name)
			}
		}
	}
	batch := d.Components.Schemas["Batch"]
	if batch.Type != "array" || batch.Items == nil || batch.Items.Ref != "#/components/schemas/Record" || batch.MinItems != 1 || batch.MaxItems != DefaultLimit {
		t.Errorf("a batch is %+v", batch)
	}
	if d.Components.Schemas["Record"].Properties["id"].MinLength != 1 {
		t.Error("an id may be empty")
	}
}

// refused is every refusal there is, by status and code.
func refused(t *testing.T) map[int][]string {
	t.Helper()
	s := newService(t, Config{Token: "x"})
	open := newService(t, Config{})
	_, unauthorized := s.Admit(Head{})
	_, mediaType := open.Admit(Head{})
	_, encoding := open.Admit(Head{ContentType: string(JSON), ContentEncoding: "br"})
	_, batch := s.Accept(context.Background(), Head{}, Records(nil, nil))
	_, record := s.Accept(context.Background(), Head{}, Records(make([]Record, 1), nil))
	out := map[int][]string{}
	for _, err := range []error{
		s.Malformed(Head{}, nil, nil), batch, record, unauthorized, NotFound(), NotAllowed(), TooSlow(), s.TooLarge(), mediaType, encoding, context.Canceled, sinkError(nil), unsentError(nil),
	} {
		r := s.RefusalOf(err)
		out[r.Status] = append(out[r.Status], r.Code)
	}
	return out
}

func TestDescribedAnswers(t *testing.T) {
	d := described(t)
	want := map[string]map[string][]int{
		"/":             {"post": {200, 202, 400, 401, 404, 405, 408, 413, 415, 421, 500, 503}},
		"/health":       {"get": {200, 404, 405, 421}},
		"/metrics":      {"get": {200, 404, 405, 421}},
		"/openapi.json": {"get": {200, 401, 404, 405, 421}},
	}
	refusals := refused(t)
	refusals[421] = []string{"other"} // which is refused in front of the service
	headers := map[int]string{401: "WWW-Authenticate", 405: "Allow", 503: "Retry-After"}
	types := map[string]string{"/health": "text/plain", "/metrics": "text/plain"}
	for path, methods := range want {
		if len(d.Paths[path]) != len(methods) {
			t.Errorf("%s has %d methods", path, len(d.Paths[path]))
		}
		for method, statuses := range methods {
			op := d.Paths[path][method]
			if len(op.Responses) != len(statuses) {
				t.Errorf("%s %s: answers %v, want %v", method, path, slices.Sorted(maps.Keys(op.Responses)), statuses)
			}
			for _, status := range statuses {
				r := d.at(t, op.Responses[fmt.Sprint(status)])
				if r.Description == "" {
					t.Errorf("%s %s: %d is not described", method, path, status)
				}
				if name := headers[status]; name != "" && r.Headers[name] == nil || len(r.Headers) > 1 {
					t.Errorf("%s %s: %d has headers %v, want %s", method, path, status, r.Headers, name)
				}
				if status == 200 {
					typ := types[path]
					if typ == "" {
						typ = string(JSON)
					}
					if _, ok := r.Content[typ]; !ok || len(r.Content) != 1 {
						t.Errorf("%s %s: answers %v, want %s", method, path, r.Content, typ)
					}
					continue
				}
				wantRefusalDescribed(t, r, status, refusals[status])
			}
		}
	}
	if len(d.Paths) != len(want) || !strings.HasPrefix(d.OpenAPI, "3.1.") {
		t.Errorf("%d paths in OpenAPI %s", len(d.Paths), d.OpenAPI)
	}
}

func wantRefusalDescribed(t *testing.T, r response, status int, codes []string) {
	t.Helper()
	c, ok := r.Content[string(JSON)]
	if !ok || len(r.Content) != 1 || len(c.Schema.AllOf) != 2 || c.Schema.AllOf[0].Ref != "#/components/schemas/Refusal" {
		t.Errorf("%d: %+v is no refusal in JSON", status, r.Content)
		return
	}
	if got := c.Schema.AllOf[1].Properties["error"].Enum; !slices.Equal(got, codes) {
		t.Errorf("%d: codes %q, want %q", status, got, codes)
	}
	var example Refusal
	if err := json.Unmarshal(c.Example, &example); err != nil || !slices.Contains(codes, example.Code) || example.Message == "" {
		t.Errorf("%d: example %s, %v", status, c.Example, err)
	}
}

// The example of a batch is taken, and answered as the example of a receipt says.
func TestDescribedBatch(t *testing.T) {
	post := described(t).Paths["/"]["post"]
	var formats []Format
	for name := range post.RequestBody.Content {
		formats = append(formats, Format(name))
	}
	slices.Sort(formats)
	if !slices.Equal(formats, []Format{JSON, Gob, Protobuf}) {
		t.Errorf("media types %q", formats)
	}
	if !strings.Contains(post.RequestBody.Description, fmt.Sprint(DefaultMaxBody)) {
		t.Errorf("no limit of %d in %q", DefaultMaxBody, post.RequestBody.Description)
	}
	s := newService(t, Config{})
	for _, p := range post.Parameters {
		for _, value := range p.Schema.Enum {
			_, err := s.Admit(Head{ContentType: string(JSON), ContentEncoding: value})
			wantRefusal(t, p.Name+": "+value, err, 0, "")
		}
	}
	var records []Record
	if err := json.Unmarshal(post.RequestBody.Content[string(JSON)].Example, &records); err != nil {
		t.Fatal(err)
	}
	v := reflect.ValueOf(records[0].Metadata)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("the example says nothing of %s", v.Type().Field(i).Name)
		}
	}
	got, err := s.Accept(context.Background(), Head{}, Records(records, json.Marshal))
	var want Receipt
	if err := json.Unmarshal(post.Responses["200"].Content[string(JSON)].Example, &want); err != nil {
		t.Fatal(err)
	}
	if err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}

// TestNotFoundNamesRoutes: who asks at a path that is none is told those that are.
func TestNotFoundNamesRoutes(t *testing.T) {
	var doc document
	if err := json.Unmarshal(OpenAPI(), &doc); err != nil || len(doc.Paths) == 0 {
		t.Fatalf("%d paths, %v", len(doc.Paths), err)
	}
	for path := range doc.Paths {
		if text := NotFound().Error() + " "; !strings.Contains(text, " "+path+" ") && !strings.Contains(text, " "+path+",") {
			t.Errorf("%s is not in %q", path, text)
		}
	}
}
