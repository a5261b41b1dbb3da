package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/report"
)

// words are the values that each kind of word can have; schema and code must
// agree on them.
func words() map[reflect.Type][]string {
	return map[reflect.Type][]string{
		reflect.TypeFor[tare.Role]():            {string(tare.RoleContender), string(tare.RoleBaseline), string(tare.RoleControl), string(tare.RoleNull), string(tare.RoleApart), string(tare.RoleTrap)},
		reflect.TypeFor[tare.Launch]():          {string(tare.LaunchProgram), string(tare.LaunchCommand), string(tare.LaunchURL), string(tare.LaunchGobench)},
		reflect.TypeFor[tare.Isolation]():       {string(tare.Lockstep), string(tare.TrialWise)},
		reflect.TypeFor[tare.Reference]():       {string(tare.BaselineAndControl)},
		reflect.TypeFor[tare.Until]():           {string(tare.UntilOps), string(tare.UntilGC)},
		reflect.TypeFor[tare.Ruling]():          {string(tare.Met), string(tare.NotMet), string(tare.Inconclusive), string(tare.VoidRuling)},
		reflect.TypeFor[tare.ClaimKind]():       {string(tare.ClaimRatio), string(tare.ClaimStatement), string(tare.ClaimCount), string(tare.ClaimTrend), string(tare.ClaimGrowth), string(tare.ClaimShare), string(tare.ClaimRate), string(tare.ClaimCause), string(tare.ClaimReported)},
		reflect.TypeFor[tare.DifferenceClass](): {string(tare.DiffersInValue), string(tare.DiffersInAcceptance), string(tare.DiffersInForm)},
		reflect.TypeFor[tare.Outcome](): {string(tare.Holds), string(tare.MoreThanPublished), string(tare.DirectionHolds), string(tare.Tie), string(tare.Refuted),
			string(tare.VoidAsPublished), string(tare.NotThatSize), string(tare.ClaimOpen), string(tare.NotMeasured)},
		reflect.TypeFor[tare.TrapOutcome](): {string(tare.Caught), string(tare.Missed), string(tare.NotEnoughEvidence)},
		reflect.TypeFor[tare.Extent]():      {string(tare.ByBytes), string(tare.ByMembers), string(tare.ByLevels)},
		reflect.TypeFor[tare.Severity]():    {string(tare.Note), string(tare.Warn), string(tare.Void)},
	}
}

// fill gives every field under v a value that is not zero.
func fill(v reflect.Value, key string) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), key)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)))
			return
		}
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			fill(v.Field(i), name)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), key)
	case reflect.Map:
		item := reflect.New(v.Type().Elem()).Elem()
		fill(item, key)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("x").Convert(v.Type().Key()), item)
	case reflect.String:
		s := "x"
		if known := words()[v.Type()]; known != nil {
			s = known[0]
		} else if fits := map[string]string{"schema": tare.ResultSchema, "class": tare.ErrExit, "sha256": strings.Repeat("0a", 32)}[key]; fits != "" {
			s = fits
		}
		v.SetString(s)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(0.5)
	default:
		v.SetInt(7)
	}
}

func populated() *tare.Result {
	var r tare.Result
	fill(reflect.ValueOf(&r).Elem(), "")
	return &r
}

func TestPopulatedResultIsValid(t *testing.T) {
	s := compile(t, "result.schema.json")
	plain, err := json.Marshal(populated())
	if err != nil {
		t.Fatal(err)
	}
	var printed, empty bytes.Buffer
	if err := report.JSON(&printed, populated()); err != nil {
		t.Fatal(err)
	}
	least := &tare.Result{Run: tare.Run{Machine: tare.Machine{Cores: 1}}, Design: tare.Design{Plan: tare.Plan{Isolation: tare.Lockstep}}}
	if err := report.JSON(&empty, least); err != nil {
		t.Fatal(err)
	}
	for name, doc := range map[string][]byte{"encoding/json": plain, "report.JSON": printed.Bytes(), "the least there can be": empty.Bytes()} {
		if err := s.Validate(decode(t, doc)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every value of the document is typed: none can be replaced by another type.
// Every object can have more fields, and cannot do without a field that is
// always written.
func TestEveryFieldIsTyped(t *testing.T) {
	s := compile(t, "result.schema.json")
	src, err := json.Marshal(populated())
	if err != nil {
		t.Fatal(err)
	}
	var tried int
	for path := range places(decode(t, src), "") {
		doc := decode(t, src)
		change(doc, path, func(v any) any {
			if o, ok := v.(map[string]any); ok {
				o["field_of_the_future"] = "anything"
				return o
			}
			return v
		})
		if err := s.Validate(doc); err != nil && !strings.Contains(path, "/until/") && !mapsOfWords(path) {
			t.Errorf("%s with one more field: %v", path, err)
		}
		doc = decode(t, src)
		change(doc, path, func(v any) any {
			if _, ok := v.([]any); ok {
				return "a text"
			}
			return []any{map[string]any{}}
		})
		if s.Validate(doc) == nil {
			t.Errorf("%s can be of another type", path)
		}
		tried++
	}
	if tried < 150 {
		t.Errorf("only %d places tried", tried)
	}
}

// mapsOfWords are objects whose keys are ids: more of them must be of the same type.
func mapsOfWords(path string) bool {
	last := path[strings.LastIndex(path, "/")+1:]
	return slices.Contains([]string{"until", "ops", "cycles", "lead", "samples", "set", "files", "histograms", "x"}, last)
}

// The schema describes the fields the document has, all of them and no others.
func TestSchemaIsTheDocument(t *testing.T) {
	root := decode(t, read(t, "result.schema.json")).(map[string]any)
	c := comparer{t: t, root: root, used: map[string]bool{}}
	c.compare("result", reflect.TypeFor[tare.Result](), root)
	for name := range root["$defs"].(map[string]any) {
		if !c.used["#/$defs/"+name] {
			t.Errorf("$defs/%s describes nothing", name)
		}
	}
}

type comparer struct {
	t    *testing.T
	root map[string]any
	used map[string]bool
}

// compare holds a Go type against the schema node that describes it.
func (c *comparer) compare(path string, typ reflect.Type, node map[string]any) {
	c.t.Helper()
	if r, ok := node["$ref"].(string); ok {
		c.used[r] = true
		def, ok := c.root["$defs"].(map[string]any)[strings.TrimPrefix(r, "#/$defs/")].(map[string]any)
		if !ok {
			c.t.Fatalf("%s: %s does not exist", path, r)
		}
		node = def
	}
	want := ""
	switch typ.Kind() {
	case reflect.Pointer:
		c.compare(path, typ.Elem(), node)
		return
	case reflect.Struct:
		if want = "object"; typ == reflect.TypeFor[time.Time]() {
			want = "string"
		} else {
			c.fields(path, typ, node)
		}
	case reflect.Slice:
		want = "array"
		c.compare(path+"[]", typ.Elem(), node["items"].(map[string]any))
	case reflect.Map:
		want = "object"
		c.compare(path+"{}", typ.Elem(), node["additionalProperties"].(map[string]any))
	case reflect.String:
		if want = "string"; typ == reflect.TypeFor[tare.Kind]() {
			want = "array"
			break
		}
		c.words(path, typ, node)
	case reflect.Bool:
		want = "boolean"
	case reflect.Float64:
		want = "number"
	default:
		want = "integer"
	}
	if node["type"] != want {
		c.t.Errorf("%s is %v in the schema, a %s in the document", path, node["type"], want)
	}
}

func (c *comparer) fields(path string, typ reflect.Type, node map[string]any) {
	c.t.Helper()
	properties, _ := node["properties"].(map[string]any)
	var required []string
	seen := map[string]bool{}
	for _, f := range reflect.VisibleFields(typ) {
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "-" {
			continue
		}
		if seen[name] = true; option == "" {
			required = append(required, name)
		}
		at := path + "." + name
		p, ok := properties[name].(map[string]any)
		if !ok {
			c.t.Errorf("%s is not in the schema", at)
			continue
		}
		description, _ := p["description"].(string)
		if len(description) < 5 {
			c.t.Errorf("%s has no description", at)
		}
		for suffix, unit := range map[string]string{"_ns": "nanoseconds", "_bytes": "bytes", "seconds": "seconds"} {
			if strings.HasSuffix(name, suffix) && !strings.Contains(description, unit) {
				c.t.Errorf("%s: its description %q does not say %s", at, description, unit)
			}
		}
		c.compare(at, f.Type, p)
	}
	for name := range properties {
		if !seen[name] {
			c.t.Errorf("%s.%s is in the schema but not in the document", path, name)
		}
	}
	var said []string
	list, _ := node["required"].([]any)
	for _, name := range list {
		said = append(said, fmt.Sprint(name))
	}
	slices.Sort(said)
	slices.Sort(required)
	if !slices.Equal(said, required) {
		c.t.Errorf("%s requires %v, the document always has %v", path, said, required)
	}
}

func (c *comparer) words(path string, typ reflect.Type, node map[string]any) {
	c.t.Helper()
	known := words()[typ]
	if typ.Name() != "string" && known == nil {
		c.t.Errorf("%s: the words of %v are not listed in this test", path, typ)
	}
	if known == nil {
		return
	}
	var said []string
	list, _ := node["enum"].([]any)
	for _, w := range list {
		said = append(said, fmt.Sprint(w))
	}
	if !slices.Equal(said, known) {
		c.t.Errorf("%s can be %q in the schema, %q in the document", path, said, known)
	}
}
