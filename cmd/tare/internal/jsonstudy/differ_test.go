package jsonstudy

import (
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/codec"
	"github.com/tarebench/tare/contender/wire"
)

func TestCompare(t *testing.T) {
	for name, tt := range map[string]struct {
		want, got string
		says      string // empty: no difference
		lost      bool
		form      bool
	}{
		"the same":        {`{"a":1}`, "{\"a\":1}\n", "", false, false},
		"white space":     {`{"a":[1,2]}`, `{ "a": [1, 2] }`, "", false, false},
		"a number":        {`{"items":[{"p":1},{"p":1.5e-9}]}`, `{"items":[{"p":1},{"p":0}]}`, "$.items[1].p: 1.5e-9 became 0", false, false},
		"a text":          {`["a\u2028"]`, `["a"]`, `$[0]: "a\u2028" became "a"`, false, false},
		"nil for empty":   {`{"a":[],"b":{}}`, `{"a":null,"b":{}}`, "$.a: [] became null", false, false},
		"empty for nil":   {`{"a":null}`, `{"a":{}}`, "$.a: null became {}", false, false},
		"a key lost":      {`{"a":1,"b":2}`, `{"a":2}`, "$.b: 2 is missing", true, false},
		"a key more":      {`{"a":1}`, `{"a":1,"b":2}`, "$.b: nothing became 2", true, false},
		"an item lost":    {`{"a":[1,2]}`, `{"a":[1]}`, "$.a: [1,2] became [1]", true, false},
		"another type":    {`{"a":1}`, `{"a":"1"}`, `$.a: 1 became "1"`, true, false},
		"false for true":  {`[true]`, `[false]`, "$[0]: true became false", true, false},
		"null for all":    {`{"a":1}`, `null`, `$: {"a":1} became null`, true, false},
		"not JSON":        {`{"a":1}`, `{"a":1`, `$: {"a":1} became what is no JSON (unexpected EOF)`, true, false},
		"nothing":         {`{"a":1}`, ``, `$: {"a":1} became what is no JSON (nothing)`, true, false},
		"two":             {`{"a":1}`, `{"a":1}{}`, `$: {"a":1} became what is no JSON (something follows it)`, true, false},
		"the graver":      {`{"a":1.5,"b":[]}`, `{"a":1.4,"b":7}`, "$.b: [] became 7", true, false},
		"order":           {`{"a":1,"b":2}`, `{"b":2,"a":1}`, "$: the reference's order of keys became another order of keys", false, true},
		"spelled number":  {`{"a":1e21}`, `{"a":1000000000000000000000}`, "$: 1e21 became 1000000000000000000000", false, true},
		"spelled text":    {`{"a":"\u003cb\u003e"}`, `{"a":"<b>"}`, `$: "\u003cb\u003e" became "<b>"`, false, true},
		"huge, as it was": {`[1e999999]`, `[1e999999]`, "", false, false},
		"a sign of zero":  {`{"a":-0}`, `{"a":0}`, "$.a: -0 became 0", false, false},
		"a sign lost":     {`[0.0e1]`, `[-0.0e1]`, "$[0]: 0.0e1 became -0.0e1", false, false},
		"zeros":           {`[-0]`, `[-0.0]`, "$: -0 became -0.0", false, true},
		"a key twice":     {`{"a":2}`, `{"a":1,"a":2}`, `$: {"a":2} became {"a":1,"a":2}`, true, false},
		"twice in both":   {`{"a":1,"a":2}`, `{"a":1,"a":3}`, "$.a: 2 became 3", false, false},
		"half a letter":   {`["\ufffd"]`, "[\"\xed\xa0\"]", `$: ["\ufffd"] became what is not UTF-8`, true, false},
	} {
		d, differs := compareDocuments([]byte(tt.want), []byte(tt.got))
		says := ""
		if differs {
			says = d.String()
		}
		if says != tt.says || d.lost != tt.lost || d.form != tt.form {
			t.Errorf("%s: %q, lost %v, form %v; want %q, %v, %v", name, says, d.lost, d.form, tt.says, tt.lost, tt.form)
		}
	}
	if d, _ := compareDocuments([]byte("["+strings.Repeat("1,", 500)+"1]"), []byte("["+strings.Repeat("2,", 500)+"2]")); d.path != "$[0]" {
		t.Errorf("%+v", d)
	}
}

// TestSeveralDifferences: a difference does not hide those of other fields.
func TestSeveralDifferences(t *testing.T) {
	docs := docsOf(t, "{\"a\":1}")
	for _, tt := range []struct{ want, got, says string }{
		{`{"a":-0,"b":"x","c":[1,1]}`, `{"a":0,"b":"y","c":[2,2]}`, `decodes $.a: -0 as 0, $.b: "x" as "y", $.c[0]: 1 as 2`},
		{`{"a":1,"b":2,"c":3,"d":4,"e":5}`, `{"a":2,"b":3,"c":4,"d":5,"e":6}`, "decodes $.a: 1 as 2, $.b: 2 as 3, $.c: 3 as 4, and 2 more fields otherwise"},
		{`{"a":1,"b":2}`, `{"a":2}`, "decodes $.b: 2 as nothing, $.a: 1 as 2"},
	} {
		d, differs := compareDocuments([]byte(tt.want), []byte(tt.got))
		if says := d.describe("decodes", docs, 0); !differs || says != tt.says {
			t.Errorf("%s for %s: %q, want %q", tt.got, tt.want, says, tt.says)
		}
	}
}

func FuzzCompare(f *testing.F) {
	f.Add(`{"a":[1,null,"x"]}`, `{"a":[1,{},"y"]}`)
	f.Add(`[]`, `null`)
	f.Fuzz(func(t *testing.T, a, b string) {
		d, differs := compareDocuments([]byte(a), []byte(b))
		if differs && (strings.Contains(d.String(), "\n") && !strings.Contains(d.path, "\n") || d.lost && d.form) {
			t.Fatalf("%+v", d)
		}
		if _, differs := compareDocuments([]byte(a), []byte(a)); differs {
			t.Fatalf("%q differs from itself", a)
		}
	})
}

// asked is a kind about three documents whose reference on a workload is the
// documents themselves.
func asked(t *testing.T, id string) (*Kind, wire.Workload) {
	t.Helper()
	k := NewKind(nil, docsOf(t, "{\"a\":1.5}\n{\"a\": 2.5}\n{\"a\":3.5,\"n\":9007199254740993}"))
	w := k.works[id]
	w.reference = [][]byte{[]byte(`{"a":1.5}`), []byte(`{"a":2.5}`), []byte(`{"a":3.5,"n":9007199254740992}`)}
	k.works[id] = w
	in, err := k.Input(tare.Workload{ID: id}, "", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return k, in
}

func TestKindCompares(t *testing.T) {
	k, in := asked(t, "typed/decode")
	if in.Fixture != codec.UserFixture || in.Op != codec.OpUnmarshal || in.Bodies != 3 {
		t.Errorf("%+v", in)
	}
	answer := func(i int, text string) wire.Answer { return wire.Answer{Case: i, Output: []byte(text)} }
	wrong, err := k.Compare(in, []wire.Answer{
		answer(0, `{"a":1.5}`), answer(1, `{"a":2.4}`), // another number is a price
		answer(2, `{"a":3.5,"n":9007199254740993}`), // as the null contender has it
	})
	if err != nil || len(wrong) > 0 {
		t.Errorf("%q %v", wrong, err)
	}
	wrong, err = k.Compare(in, []wire.Answer{answer(0, `{}`), answer(1, `[]`), {Case: 2, Error: "too odd"}})
	if err != nil || strings.Join(wrong, "|") != `x.ndjson:1: $.a: 1.5 is missing|x.ndjson:2: $: {"a":2.5} became []|x.ndjson:3: returned the error "too odd"` {
		t.Errorf("%q %v", wrong, err)
	}
	if _, err := k.Compare(in, []wire.Answer{answer(3, `{}`)}); err == nil {
		t.Error("an answer to nothing is taken")
	}
	if _, err := k.Input(tare.Workload{ID: "other"}, "", t.TempDir()); err == nil {
		t.Error("any workload is taken")
	}
	if w, err := k.Describe(tare.Workload{}, in); err != nil || w.Bytes != 9+10+30 {
		t.Errorf("%+v %v", w, err)
	}
}

func TestKindTellsDifferences(t *testing.T) {
	k, _ := asked(t, "any/encode")
	exams, err := k.Exams(t.TempDir())
	if err != nil || len(exams) != 1 || exams[0].ID != "any/encode" || exams[0].Fixture != "" {
		t.Fatalf("%+v %v", exams, err)
	}
	tell := func(i int, text, failure string) tare.Difference {
		d, differs := k.Differ(exams[0], wire.Answer{Case: i, Output: []byte(text), Error: failure})
		if differs != (d.Says != "") {
			t.Errorf("%v %+v", differs, d)
		}
		return d
	}
	first, second := tell(0, `{"a":2}`, ""), tell(1, `{"a":3}`, "")
	if first.Says != "encodes $.a: 1.5 as 2 (x.ndjson:1)" || second.Says != first.Says || first.Class != tare.DiffersInValue || first.Case == second.Case || second.Got != "3" {
		t.Errorf("%+v\n%+v", first, second)
	}
	if d := tell(2, `{"a":3.5,"n":9007199254740992}`, ""); d.Says != "" {
		t.Errorf("%+v", d)
	}
	if d := tell(2, `{"n":9007199254740992,"a":3.5}`, ""); d.Says != "encodes keys in another order" || d.Class != tare.DiffersInForm {
		t.Errorf("%+v", d)
	}
	if d := tell(2, "", "no"); d.Says != "refuses x.ndjson:3" || d.Class != tare.DiffersInAcceptance {
		t.Errorf("%+v", d)
	}
	if d := tell(0, `{"a":1}`, ""); d.Says != "encodes $.a: 1.5 as 1 (x.ndjson:1)" {
		t.Errorf("another contender is told the words of one before: %+v", d)
	}
	decodes, in := asked(t, "any/decode")
	for got, want := range map[string]struct {
		says  string
		class tare.DifferenceClass
	}{
		`{"a":15e-1}`: {"decodes 1.5 as 15e-1 (x.ndjson:1)", tare.DiffersInForm}, // a json.Number
		`{"a":-0}`:    {"decodes $.a: 1.5 as -0 (x.ndjson:1)", tare.DiffersInValue},
		`{}`:          {"decodes $.a: 1.5 as nothing (x.ndjson:1)", tare.DiffersInValue},
	} {
		d, differs := decodes.Differ(in, wire.Answer{Output: []byte(got)})
		if !differs || d.Says != want.says || d.Class != want.class || d.Got == "" {
			t.Errorf("%s: %+v, want %+v", got, d, want)
		}
	}
}
