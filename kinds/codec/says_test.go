package codec_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/kinds/codec"
)

// put is the JSON of a probe with one field's text replaced, as jsoniter and
// others would have written it.
func put(t *testing.T, name, key, text string) []byte {
	t.Helper()
	v, err := fixture.Decode("probes", []byte(`"`+name+`"`))
	if err != nil {
		t.Fatal(err)
	}
	p := v.(fixture.Probe)
	if name == "not-a-number" { // which encoding/json would not write
		p.Float = 0
	}
	src, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(src, &fields); err != nil {
		t.Fatal(err)
	}
	was := `"` + key + `":` + string(fields[key])
	if !bytes.Contains(src, []byte(was)) {
		t.Fatalf("%s has no %s", src, was)
	}
	return bytes.Replace(src, []byte(was), []byte(`"`+key+`":`+text), 1)
}

// mapIn is the map of the case map-order, beginning with key first.
func mapIn(first int) string {
	entries := make([]string, 32)
	for i := range entries {
		n := (i + first) % 32
		entries[i] = fmt.Sprintf(`"key-%d":%d`, 100+n, n)
	}
	return "{" + strings.Join(entries, ",") + "}"
}

// TestEncoded holds answers of known libraries to known cases: of jsoniter's
// ConfigFastest where nothing else is said.
func TestEncoded(t *testing.T) {
	const value, form, acceptance = tare.DiffersInValue, tare.DiffersInForm, tare.DiffersInAcceptance
	for _, c := range []struct {
		name, key, text string
		class           tare.DifferenceClass // none: no difference
		says            string
	}{
		{"tiny-float", "float", "0", value, "writes 1.5e-9 as 0"},
		{"tiny-float", "float", "1.5e-09", form, "writes 1.5e-9 as 1.5e-09"}, // ConfigDefault
		{"float-digits", "float", "3.141593", value, "writes 3.141592653589793 as 3.141593"},
		{"float-digits", "float", "3.141592653589793", "", ""},
		{"any-float-digits", "any", "0.3", value, "writes 0.30000000000000004 in any as 0.3"},
		{"negative-zero", "float", "0", value, "writes -0 as 0"},
		{"any-int-2^53+1", "any", "9007199254740992", value, "writes 9007199254740993 in any as 9007199254740992"},
		{"invalid-utf8", "text", "\"a\xffz\"", value, "writes invalid UTF-8 as it is"},
		{"invalid-utf8", "text", "\"a\xfez\"", value, "writes invalid UTF-8 as \"a⟨fe⟩z\", which is not JSON"},
		{"invalid-utf8-key", "counts", "{\"a\xffz\":1}", value, "writes keys of invalid UTF-8 as they are"},
		{"html", "text", `"<a&b>"`, form, "leaves <, > and & unescaped"},
		{"html", "text", `"\u003ca&b\u003e"`, form, `writes <a&b> as "\u003ca&b\u003e"`},
		{"html-key", "counts", `{"<a&b>":1}`, form, "leaves <, > and & unescaped in keys"},
		{"html-key", "counts", "{ \"\\u003ca\\u0026b\\u003e\" : 1 }", "", ""}, // ffjson
		{"line-separators", "text", "\"a\u2028b\u2029c\"", form, "leaves U+2028 and U+2029 unescaped"},
		{"control-characters", "text", `"\u0000\u0008\t\n\u000c\r\u001f"`, form, `writes \b and \f as \u0008 and \u000c`},
		{"control-characters", "text", "\"\x00\b\t\n\f\r\x1f\"", value, `writes control characters as "⟨U+0000⟩⟨U+0008⟩⟨U+0009⟩⟨U+000A⟩⟨U+000…, which is not JSON`},
		{"nil-map", "counts", "{}", value, "writes a nil map as {}"}, // encoding/json/v2
		{"bytes", "bytes", "[0,255,254]", value, "writes a []byte as [0,255,254]"},
		{"map-order", "counts", mapIn(0), "", ""},
		{"map-order", "counts", mapIn(9), form, "writes map keys unsorted"},
		{"map-order", "counts", mapIn(21), form, "writes map keys unsorted"},
		{"map-order", "counts", strings.Replace(mapIn(9), "key-131", "key-132", 1), value, "writes a map of 32 keys as other entries"},
		{"map-order", "counts", strings.Replace(mapIn(9), ":31", ":", 1), value, "writes a map of 32 keys as what is not JSON"},
		{"not-a-number", "float", "NaN", acceptance, "writes NaN as NaN, which is not JSON"}, // ffjson
		{"not-a-number", "float", "null", acceptance, "writes NaN as null"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, differs := examDifference(t, "exam/probes/marshal", c.name, wire.Answer{Output: put(t, c.name, c.key, c.text)})
			if differs != (c.class != "") || d.Class != c.class || d.Says != c.says {
				t.Errorf("%q, %q, want %q, %q", d.Class, d.Says, c.class, c.says)
			}
			if differs && !slices.Equal(d.BearsOn, []string{"marshal", "stream", "roundtrip"}) {
				t.Errorf("bears on %q", d.BearsOn)
			}
		})
	}
}

// TestReplacementCharacter: which spelling encoding/json has depends on its
// version; the other one is a difference in form.
func TestReplacementCharacter(t *testing.T) {
	escaped, raw := `"a\ufffdz"`, "\"a\ufffdz\""
	same, other, says := escaped, raw, "writes invalid UTF-8 as U+FFFD itself, not escaped"
	if text, _ := json.Marshal("a\xffz"); string(text) == raw {
		same, other, says = raw, escaped, `writes invalid UTF-8 as "a\ufffdz"`
	}
	if d, differs := examDifference(t, "exam/probes/marshal", "invalid-utf8", wire.Answer{Output: put(t, "invalid-utf8", "text", same)}); differs {
		t.Errorf("%+v", d)
	}
	d, _ := examDifference(t, "exam/probes/marshal", "invalid-utf8", wire.Answer{Output: put(t, "invalid-utf8", "text", other)})
	if d.Class != tare.DiffersInForm || d.Says != says {
		t.Errorf("%+v, want %q", d, says)
	}
}

// examDifference gives one answer to the case of that name.
func examDifference(t *testing.T, id, name string, a wire.Answer) (tare.Difference, bool) {
	t.Helper()
	k := codec.New()
	asked, _ := writeExams(t, k)
	set := strings.Split(id, "/")[1]
	a.Case = slices.IndexFunc(fixture.Cases(set), func(c fixture.Case) bool { return c.Name == name })
	if a.Case < 0 {
		t.Fatalf("%s has no case %s", set, name)
	}
	return k.Differ(asked[id], a)
}

func TestDiffer(t *testing.T) {
	const value, form, acceptance = tare.DiffersInValue, tare.DiffersInForm, tare.DiffersInAcceptance
	const marshal, roundtrip, unmarshal, any, fields = "exam/probes/marshal", "exam/probes/roundtrip", "exam/documents/unmarshal", "exam/texts/any", "exam/excerpts/fields"
	out := func(text string) wire.Answer { return wire.Answer{Output: []byte(text)} }
	fails := func(text string) wire.Answer { return wire.Answer{Error: text} }
	for _, c := range []struct {
		exam, name string
		answer     wire.Answer
		class      tare.DifferenceClass // none: no difference
		says       string
	}{
		// What is not an object has no field.
		{marshal, "tiny-float", out(`[1]`), value, "leaves out 1.5e-9"},
		{marshal, "empty-map", out(`{"text":""}`), value, "leaves out an empty map"},
		{marshal, "tiny-float", out(`{"float":1.5e-9`), value, "writes 1.5e-9 as what is not JSON"},
		{marshal, "tiny-float", out(``), value, "writes 1.5e-9 as what is not JSON"},
		{marshal, "struct-order", out(`{"any":null,"bytes":null,"counts":null,"flag":false,"float":0,"int":1,"list":null,"pointer":null,"single":0,"text":"a","time":"","uint":0}`), form, "does not write fields in the order of the struct"},
		{marshal, "struct-order", out(`{"text":"a","int":1}`), value, "writes the fields of a struct as text, int"},
		{marshal, "struct-order", out(`null`), value, "writes the fields of a struct as null"},
		{marshal, "struct-order", out(`{"text"`), value, "writes the fields of a struct as what is not JSON"},

		// Refusals, and worse.
		{marshal, "invalid-utf8", fails("jsontext: invalid UTF-8"), acceptance, "refuses to write invalid UTF-8"},
		{marshal, "not-a-number", fails("another refusal"), "", ""},
		{marshal, "not-a-number", fails("panic: a contender's (codec.go:7)"), acceptance, "panics on NaN"},
		{unmarshal, "int-2^53+1", fails("panic: a contender's (codec.go:7)"), acceptance, "panics on 9007199254740993"},
		{any, "arrays-100000-open", fails("the process ended: exit status 2"), acceptance, "does not survive 100000 opening brackets"},
		{roundtrip, "invalid-utf8", fails("no"), acceptance, "does not bring back invalid UTF-8"},
		{unmarshal, "duplicate-key", fails("no"), acceptance, "refuses a key that occurs twice"},
		{any, "arrays-5000", fails("recursion"), acceptance, "refuses 5000 arrays inside each other"},
		{any, "trailing-comma", fails("no"), "", ""},
		{fields, "nothing-there", fails("path not found"), acceptance, "refuses an item without the fields"},

		// A binary codec answers with what it reads in what it wrote.
		{marshal, "empty-slice", wire.Answer{Output: put(t, "empty-slice", "list", "null"), Size: 30}, value, "brings an empty slice back as null"},
		{marshal, "html", wire.Answer{Output: put(t, "html", "text", `"\u003ca\u0026b\u003e"`), Size: 30}, "", ""},
		{marshal, "invalid-utf8", fails("what it put out cannot be read again: cbor: invalid UTF-8"), acceptance, "cannot read invalid UTF-8 that it wrote itself"},

		// Round trips.
		{roundtrip, "float-digits", out("{Float: 3.141592653589793}"), "", ""},
		{roundtrip, "float-digits", out("{Float: 3.141593}"), value, "brings 3.141592653589793 back as 3.141593"},
		{roundtrip, "float-digits", out("{Float: 3.141592653589793, List: []}"), "", ""}, // other cases are about lists
		{roundtrip, "nil-slice", out("{List: []}"), value, "brings a nil slice back as []"},
		{roundtrip, "empty-slice", out("{}"), value, "brings an empty slice back as nil"},
		{roundtrip, "tiny-float", out("{}"), value, "brings 1.5e-9 back as 0"},
		{roundtrip, "time-zone", out("{}"), value, "brings a time with offset and nanoseconds back as the zero time"},
		{roundtrip, "invalid-utf8", out(`{Text: "a\xffz"}`), acceptance, "brings invalid UTF-8 back unchanged, which encoding/json does not"},
		{roundtrip, "any-int-2^53+1", out(`{Any: uint64(9007199254740993)}`), value, "brings 9007199254740993 in any back as uint64(9007199254740993)"},
		{roundtrip, "not-a-number", out("{Float: NaN}"), acceptance, "brings back NaN, which encoding/json refuses"},
		{roundtrip, "not-a-number", out("{}"), acceptance, "brings back NaN as 0"},
		{roundtrip, "struct-order", out("{}"), "", ""}, // other cases are about values

		// Decoding into types.
		{unmarshal, "duplicate-key", out("{Int: 1}"), value, "takes the first of two equal keys"},
		{unmarshal, "duplicate-map", out(`{Counts: {"b": 2}}`), value, "takes the second of two maps of one name, not both together"},
		{unmarshal, "upper-case-key", out("{}"), value, "does not match keys in another case"},
		{unmarshal, "invalid-utf8", out(`{Text: "a\xffz"}`), value, "keeps invalid UTF-8"},
		{unmarshal, "int-2^53+1", out("{Int: 9007199254740992}"), value, "reads 9007199254740993 as 9007199254740992"},
		{unmarshal, "negative-zero", out("{}"), value, "loses the sign of -0"},
		{unmarshal, "null-list", out("{List: []}"), value, "reads null as an empty list"},
		{unmarshal, "null-text", out(`{Text: "null"}`), value, `reads null for a string as "null"`},
		{unmarshal, "float-1e400", out("{Float: +Inf}"), acceptance, "accepts 1e400 and makes it +Inf"},
		{unmarshal, "int-string", out("{Int: 5}"), acceptance, "accepts a string for an int64 and makes it 5"},
		{unmarshal, "flag-number", out("{}"), acceptance, "accepts 1 for a bool and makes it false"},
		{unmarshal, "list-object", out("{}"), acceptance, "accepts an object for a list and makes it nil"},
		{unmarshal, "skipped-comma", out("{Int: 1}"), acceptance, "accepts two commas in a row in a value it skips"},
		{unmarshal, "null-document", out("{}"), "", ""},

		// Decoding into any.
		{any, "2^53+1", out("int64(9007199254740993)"), value, "reads 9007199254740993 into any as int64(9007199254740993)"},
		{any, "duplicate-key", out(`{"a": float64(1)}`), value, "takes the first of two equal keys in any"},
		{any, "trailing-comma", out("[float64(1)]"), acceptance, "accepts a trailing comma"},
		{any, "nan", out("float64(NaN)"), acceptance, "accepts NaN and makes it float64(NaN)"},
		{any, "empty", out("nil"), acceptance, "accepts no input at all and makes it nil"},
		{any, "words", out("[true, false, nil]"), "", ""},

		// A few fields.
		{fields, "tiny-float", out(`[{"id":"a","state":"on","attributes":{"temperature":1.5000000000000002e-9}}]`), value, "reads 1.5e-9 as 1.5000000000000002e-9"},
		{fields, "tiny-float", out(`[{"attributes":{"temperature":15e-10},"id":"a","state":"on"}]`), "", ""},
		{fields, "tiny-float", out(`[{"id":"b","state":"on","attributes":{"temperature":1.5e-9}}]`), value, `reads 1.5e-9 as {ID: "b", State: "on", Attributes: {Tem…`},
		{fields, "tiny-float", out(`what`), value, "reads 1.5e-9 as what"},
		{fields, "negative-zero", out(`[{"id":"a","state":"on","attributes":{"temperature":0}}]`), value, "loses the sign of -0"},
		{fields, "duplicate-key", out(`[{"id":"a","state":"on","attributes":{"temperature":21.5}}]`), value, "finds the first of two equal keys"},
		{fields, "escaped-key", out(`[{"id":"","state":"on","attributes":{"temperature":21.5}}]`), value, "does not find keys with escapes"},
		{fields, "null-item", out(`[]`), value, "leaves out an item that is null"},
		{fields, "number-for-text", out(`[{"id":"5","state":"on","attributes":{"temperature":21.5}}]`), acceptance, `accepts a number for a string and makes it "5"`},
		{fields, "unfinished-list", out(`[{"id":"a","state":"on","attributes":{"temperature":21.5}}]`), acceptance, "accepts a list without its end"},
	} {
		t.Run(c.exam[5:]+"/"+c.name, func(t *testing.T) {
			d, differs := examDifference(t, c.exam, c.name, c.answer)
			if differs != (c.class != "") || d.Class != c.class || d.Says != c.says {
				t.Errorf("%q, %q, want %q, %q", d.Class, d.Says, c.class, c.says)
			}
			if differs && (d.Case != c.name || "exam/"+strings.Split(c.exam, "/")[1]+"/"+d.Op != c.exam || !slices.Contains(d.BearsOn, d.Op) || d.Property == "" || d.Asked == "") {
				t.Errorf("%+v", d)
			}
		})
	}
}
