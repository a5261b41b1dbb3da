package jsonstudy

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/gocmd"
	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/kinds/codec"
)

const repository = "../../../.."

// own writes a module of a user's and returns its directory.
func own(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if err := gocmd.WriteAll(dir, files); err != nil {
		t.Fatal(err)
	}
	return dir
}

func shop() map[string]string {
	return map[string]string{
		"go.mod": "module example.com/shop\n\ngo 1.24\n",
		"internal/order/order.go": `package order

import (
	"time"

	"example.com/shop/money"
)

// Order is what a test orders.
type Order struct {
	ID       string ` + "`json:\"id\"`" + `
	Paid     *time.Time
	Customer
	Items  []Item            ` + "`json:\"items,omitempty\"`" + `
	Labels map[Label][]string
	Next   *Order
	Any    any
	Part   struct{ A int }
	Hidden chan int ` + "`json:\"-\"`" + `
	note   string
}

type Customer struct{ Name string }
type Label string
type Item struct{ Price money.Cents }
type Own struct{}
func (Own) MarshalJSON() ([]byte, error) { return nil, nil }
type Paged[T any] struct{ Items []T }
type Page = Paged[Item]
type Odd struct{ F func() }
type List []Item
type hidden struct{}
const Limit = 3
func (o *Order) touch() { o.note = "" }
`,
		"money/money.go": "package money\n\n// Cents are.\ntype Cents int64\n\nfunc (c Cents) MarshalText() ([]byte, error) { return []byte(\"1\"), nil }\n\nfunc (c *Cents) UnmarshalText([]byte) error { return nil }\n",
		"cmd/main.go":    "package main\n\ntype T struct{}\n\nfunc main() {}\n",
		"broken/b.go":    "package broken\n\ntype T struct{ A Missing }\n",
	}
}

func TestFind(t *testing.T) {
	dir := own(t, shop())
	for spec, want := range map[string]string{
		"Order":                       "not the name of a type",
		"./internal/order":            "not the name of a type",
		"./internal/order.":           "not the name of a type",
		"./internal/order.hidden":     "hidden is not exported",
		"./cmd.T":                     "is package main, which nothing can import; move the type",
		"strings.Builder":             "strings is no package of a module of yours",
		"./nowhere.T":                 "run tare json inside your module",
		"example.com/elsewhere/pkg.T": "example.com/elsewhere/pkg",
	} {
		_, err := Find(t.Context(), "", dir, spec)
		var wrong *TypeError
		if !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), "--type "+spec+": ") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
	}
	if _, err := Find(t.Context(), "", t.TempDir(), "example.com/shop/internal/order.Order"); err == nil || !strings.Contains(err.Error(), "there is no go.mod in this directory or above") {
		t.Errorf("%v", err)
	}
	o, err := Find(t.Context(), "", filepath.Join(dir, "money"), "../internal/order.Order")
	if err != nil || o.Import != "example.com/shop/internal/order" || o.path != "example.com/shop" || o.goLine != "1.24" {
		t.Errorf("%+v %v", o, err)
	}
	if o, err := Find(t.Context(), "", filepath.Join(dir, "internal", "order"), "./.Order"); err != nil || o.Import != "example.com/shop/internal/order" {
		t.Errorf("of the package here: %+v %v", o, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Find(ctx, "", dir, "./internal/order.Order"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestFindInWorkspace(t *testing.T) {
	t.Setenv("GOWORK", "")
	dir := own(t, map[string]string{
		"go.work":     "go 1.24\n\nuse (\n\t./a\n\t./b\n)\n\nreplace example.com/c => ./c\n",
		"a/go.mod":    "module example.com/a\n\ngo 1.24\n\nrequire example.com/b v0.0.0\n\nreplace example.com/d v1.0.0 => ../d\n",
		"a/a.go":      "package a\n\nimport \"example.com/b\"\n\n// T is.\ntype T struct{ B b.B }\n",
		"b/go.mod":    "module example.com/b\n\ngo 1.24\n",
		"b/b.go":      "package b\n\n// B is.\ntype B struct{ N int }\n",
		"go.work.sum": "example.com/e v1.0.0 h1:x\n",
	})
	o, err := Find(t.Context(), "", filepath.Join(dir, "a"), "example.com/a.T")
	if err != nil {
		t.Fatal(err)
	}
	real, _ := filepath.EvalSymlinks(dir)
	if len(o.modules) != 2 || len(o.replace) != 2 || o.sums != "example.com/e v1.0.0 h1:x\n" || o.path != "example.com/a" ||
		!strings.HasSuffix(o.replace[0][1], filepath.Join(filepath.Base(real), "c")) || o.replace[1][0] != "example.com/d@v1.0.0" {
		t.Errorf("%+v", o)
	}
	got, err := Bench{Cache: t.TempDir()}.Describe(t.Context(), o)
	if err != nil || !strings.Contains(got.Source, "type B struct {\n\tN int\n}") {
		t.Errorf("%+v %v", got, err)
	}
}

func TestDescribe(t *testing.T) {
	dir := own(t, shop())
	b := Bench{Cache: t.TempDir()}
	for spec, want := range map[string]string{
		"Nope":  "there is no type Nope in example.com/shop/internal/order",
		"Paged": "Paged is generic; declare a type for the instance you use",
		"Limit": "Limit is not a type",
	} {
		o, err := Find(t.Context(), "", dir, "./internal/order."+spec)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Describe(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
	}
	for spec, want := range map[string]Type{
		"Order": {Root: "struct", Uses: []string{"time", "example.com/shop/money"}},
		"List":  {Root: "slice", Item: "Item", Uses: []string{"example.com/shop/money"}},
		"Page":  {Root: "struct", Uses: []string{"example.com/shop/money"}},
		"Own":   {Why: "order.Own has JSON or text methods of its own, which generated code would go around"},
		"Odd":   {Why: "func() is nothing that JSON has"},
	} {
		o, err := Find(t.Context(), "", dir, "./internal/order."+spec)
		if err != nil {
			t.Fatal(err)
		}
		got, err := b.Describe(t.Context(), o)
		if err != nil || got.Root != want.Root || got.Item != want.Item || got.Why != want.Why || strings.Join(got.Uses, " ") != strings.Join(want.Uses, " ") ||
			got.Name != "example.com/shop/internal/order."+spec {
			t.Errorf("%s: %+v %v", spec, got, err)
		}
		if spec != "Order" {
			continue
		}
		for _, part := range []string{
			"type Document struct {\n\tID string \"json:\\\"id\\\"\"\n\tPaid *time.Time\n\tCustomer\n\tItems []Item \"json:\\\"items,omitempty\\\"\"\n\tLabels map[Label][]string\n\tNext *Document\n\tAny any\n\tPart Part\n}",
			"type Label string", "type Item struct {\n\tPrice money.Cents\n}", "type Customer struct {",
		} {
			if !strings.Contains(got.Source, part) {
				t.Errorf("no %s in\n%s", part, got.Source)
			}
		}
	}
	o, err := Find(t.Context(), "", dir, "./broken.T")
	if err == nil {
		_, err = b.Describe(t.Context(), o)
	}
	if err == nil || !strings.HasSuffix(err.Error(), ": broken/b.go:3:18: undefined: Missing") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
}

// built makes a bench of the baseline, and asks it.
func built(t *testing.T, src string, typ Type, o *UserType) (*Kind, error) {
	t.Helper()
	from, err := catalog.Open(repository)
	if err != nil {
		t.Fatal(err)
	}
	b := Bench{Cache: t.TempDir()}
	nobody := func(string) bool { return false }
	c, left, err := b.Catalog(t.Context(), from, typ, o, nobody)
	if err != nil || len(left) > 0 || len(c.Leaves()) != 2 {
		t.Fatalf("%v, %d leaves, %v", left, len(c.Leaves()), err)
	}
	again, _, err := b.Catalog(t.Context(), from, typ, o, nobody)
	if err != nil || again.Dir != c.Dir {
		t.Errorf("%s made again: %s, %v", c.Dir, again.Dir, err)
	}
	bench := filepath.Dir(c.Dir)
	for _, name := range []string{skippedName, "contender/codec/own.go"} { // as by a power cut
		path := filepath.Join(bench, filepath.FromSlash(name))
		want, err := os.ReadFile(path)
		if err == nil {
			err = os.Truncate(path, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.Catalog(t.Context(), from, typ, o, nobody); err != nil {
			t.Errorf("with an empty %s: %v", name, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != string(want) {
			t.Errorf("an empty %s holds %q after it was made again, %v", name, got, err)
		}
	}
	defer func() {
		if !atomicfile.Sealed(bench) {
			t.Error("builds changed the bench")
		}
	}()
	study, unfit := NewStudy("json-x", "", c.Leaves(), "all", nobody)
	if len(study.Contenders) != 1 || len(study.Workloads) != 4 || len(unfit) != 0 || study.Validate() != nil {
		t.Errorf("%+v %v %v", study, unfit, study.Validate())
	}
	k := NewKind(codec.New(), docsOf(t, src))
	var sources = &catalog.Sources{Catalog: c, Builder: &build.Builder{Cache: b.Cache}}
	if o != nil {
		return k, k.Refer(t.Context(), o.Sources(sources), study, typ, trial.Spec{}, t.TempDir())
	}
	return k, k.Refer(t.Context(), sources, study, typ, trial.Spec{}, t.TempDir())
}

// TestInferredTypeIsBuilt builds the standard library's contender with an
// inferred type and asks it for the reference.
func TestInferredTypeIsBuilt(t *testing.T) {
	if testing.Short() {
		t.Skip("builds contenders")
	}
	src := "{\"b\":1,\"a\": 9007199254740993}\n{\"b\":2.5}"
	typ, err := Infer(docsOf(t, src))
	if err != nil {
		t.Fatal(err)
	}
	k, err := built(t, src, typ, nil)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{
		"any/decode":   `{"a":9007199254740992,"b":1} {"b":2.5}`,
		"any/encode":   `{"a":9007199254740993,"b":1} {"b":2.5}`,
		"typed/decode": `{"b":1,"a":9007199254740993} {"b":2.5}`,
		"typed/encode": `{"b":1,"a":9007199254740993} {"b":2.5}`,
	} {
		var got []string
		for _, r := range k.works[id].reference {
			got = append(got, string(r))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}

// TestNewStudy: who has no part in what is asked is named with the reason.
func TestNewStudy(t *testing.T) {
	from, err := catalog.Open(repository)
	if err != nil {
		t.Fatal(err)
	}
	all := func(string) bool { return true }
	for op, want := range map[string]struct {
		works, easyjson string
	}{
		"any":   {"any/decode any/encode", "it works with code that is generated for a type, and any is no type"},
		"typed": {"typed/decode typed/encode", ""},
		"all":   {"typed/decode typed/encode any/decode any/encode", ""},
	} {
		s, left := NewStudy("json-x", "?", from.Leaves(), op, all)
		var works []string
		for _, w := range s.Workloads {
			works = append(works, w.ID)
		}
		why := map[string]string{}
		for _, l := range left {
			why[l.What] = l.Why
		}
		measured := slices.ContainsFunc(s.Contenders, func(e tare.Entry) bool { return e.ID == "easyjson" })
		if strings.Join(works, " ") != want.works || why["contender easyjson"] != want.easyjson || measured != (want.easyjson == "") {
			t.Errorf("%s: %v, easyjson %v, %q", op, works, measured, why)
		}
		if why["contender gjson"] == "" || why["contender null"] != "" || len(s.Contenders) < 5 || s.Contenders[0].ID != Baseline {
			t.Errorf("%s: %q, %v", op, why, s.Contenders)
		}
	}
}

// TestOwnTypeIsBuilt does so with a type of a module of the user's, which stays
// as it is, and which one of the documents does not fit.
func TestOwnTypeIsBuilt(t *testing.T) {
	if testing.Short() {
		t.Skip("builds contenders")
	}
	dir := own(t, shop())
	before := listing(t, dir)
	o, err := Find(t.Context(), "", dir, "./internal/order.Order")
	if err != nil {
		t.Fatal(err)
	}
	typ, err := Bench{Cache: t.TempDir()}.Describe(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	_, err = built(t, "{\"id\":\"x\",\"Name\":\"n\"}\n\n{\"id\":7}", typ, o)
	var refused *RefusedError
	if !errors.As(err, &refused) || !strings.HasPrefix(err.Error(), "x.ndjson:3: not what example.com/shop/internal/order.Order holds: json: cannot unmarshal number into Go struct field") {
		t.Errorf("%v", err)
	}
	if after := listing(t, dir); after != before {
		t.Errorf("the module changed:\n%s\nwas\n%s", after, before)
	}
}

func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, err := os.ReadFile(path)
			b.WriteString(path + "\n" + string(text) + "\n")
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestGenerators makes code for a type with the real generators. It takes the
// modules of their leaves.
func TestGenerators(t *testing.T) {
	if os.Getenv("TARE_SOAK") != "1" {
		t.Skip("compiles the generators: TARE_SOAK=1")
	}
	from, err := catalog.Open(repository)
	if err != nil {
		t.Fatal(err)
	}
	b := Bench{Cache: t.TempDir()}
	only := func(id string) bool { return id == "easyjson" || id == "ffjson" }
	for src, want := range map[string][]string{
		`{"a":[{"b":1.5,"c":null}],"m":{"1":"x"}}`: nil,
		`[{"a":1}]`: nil,
		`[1,2]`:     {"contender ffjson"},
		`7`:         {"contender easyjson", "contender ffjson"},
	} {
		typ, err := Infer(docsOf(t, src))
		if err != nil {
			t.Fatal(err)
		}
		c, left, err := b.Catalog(t.Context(), from, typ, nil, only)
		if err != nil || len(left) != len(want) || len(c.Leaves()) != 4-len(want) {
			t.Errorf("%s: %v, %d leaves, %v", src, left, len(c.Leaves()), err)
		}
		for i, l := range left {
			if l.What != want[i] || l.Why == "" || strings.Contains(l.Why, "\n") {
				t.Errorf("%s: %+v", src, l)
			}
		}
		for _, leaf := range c.Leaves() {
			if leaf.Manifest.Kind != "codec" || leaf.Manifest.ID == tare.NullID {
				continue
			}
			if _, err := (&build.Builder{Cache: b.Cache}).Build(t.Context(), leaf); err != nil {
				t.Errorf("%s: %v", src, err)
			}
		}
	}
}
