package codec

import (
	"slices"
	"testing"

	"github.com/tarebench/tare/internal/format"
)

func TestMembers(t *testing.T) {
	for _, c := range []struct {
		text string
		want []member // nil: no object
	}{
		{`{}`, []member{}},
		{` {"a":1, "b" : "x,}\"]" } ` + "\n", []member{{"a", "1"}, {"b", `"x,}\"]"`}}},
		{`{"a":{"b":[1,{"c":2}],"d":3},"e":[]}`, []member{{"a", `{"b":[1,{"c":2}],"d":3}`}, {"e", "[]"}}},
		{`{"a:b":"c:d"}`, []member{{"a:b", `"c:d"`}}},
		{`{Any: {"a": &int(1)}, Time: 2026-03-01T12:00:00+02:00, List: []}`, []member{{"Any", `{"a": &int(1)}`}, {"Time", "2026-03-01T12:00:00+02:00"}, {"List", "[]"}}},
		{"{\"a\":NaN,\"b\":\"\xff\x01\"}", []member{{"a", "NaN"}, {"b", "\"\xff\x01\""}}},
		{`{"a\"":1}`, []member{{`a\"`, "1"}}},
		{`{"a"}`, []member{{"", `"a"`}}},
		{`{,}`, []member{{}}},
		{`{"a":1`, nil},
		{`{"a":1}}`, nil},
		{`{"a":1} {"b":2}`, nil},
		{`{"a":"1}`, nil},
		{`[1]`, nil},
		{`nil`, nil},
		{``, nil},
	} {
		got, ok := splitMembers([]byte(c.text))
		if ok != (c.want != nil) || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v, want %q", c.text, got, ok, c.want)
		}
	}
}

func TestReordered(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, true},
		{`{"a":1,"b":2}`, `{"a":2,"b":1}`, false},
		{`{"a":1,"b":2}`, `{"b":2}`, false},
		{`{"a":1,"a":2,"b":3}`, `{"a":1,"b":2,"b":3}`, false},
		{`{"a":1}`, `[1]`, false},
	} {
		if got := isReordered([]byte(c.a), []byte(c.b)); got != c.want {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
	}
}

func TestSameSpelled(t *testing.T) {
	for _, c := range []struct {
		field, want, got string
		same             bool
	}{
		{"Float", "1.5e-9", "1.5e-09", true},
		{"Float", "3.141592653589793", "3.1415926535897931", true},
		{"Float", "3.141592653589793", "3.141593", false},
		{"Float", "-0", "-0.0", true},
		{"Float", "-0", "0", false},
		{"Float", "1e+21", "1000000000000000000000", true},
		{"Single", "0.1", "0.10000000149011612", true},
		{"Float", "0.1", "0.10000000149011612", false},
		{"Float", "0.1", `"0.1"`, false},
		{"Int", "9007199254740993", "9007199254740992", false},
		{"Int", "9007199254740993", "9007199254740993.0", true},
		{"Any", "0.30000000000000004", "0.300000000000000044", true},
		{"Any", "9007199254740993", "9007199254740992", false},
		{"Text", `"\u003c"`, `"<"`, true},
		{"Text", `"1.5"`, `"1.50"`, false},
		{"Counts", "null", "{}", false},
	} {
		if got := hasSameValue(c.field, c.want, c.got); got != c.same {
			t.Errorf("%s: %s and %s: %v", c.field, c.want, c.got, got)
		}
	}
}

func TestCut(t *testing.T) {
	for text, want := range map[string]string{"abc": "abc", "abcd": "abcd", "äbcdé": "äbc…"} {
		if got := format.Clip(text, 4); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
