package codec_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/kinds/codec"
)

func TestDiff(t *testing.T) {
	for _, c := range []struct{ name, want, got, diff string }{
		{"equal bytes", `{"a":1}`, `{"a":1}`, ""},
		{"a stream's newline", `{"a":1}`, "{\"a\":1}\n", ""},
		{"key order", `{"a":1,"b":2}`, `{"b":2,"a":1}`, ""},
		{"white space", `[1,2]`, "[ 1,\n2 ]", ""},
		{"escapes", `"<a&b>"`, `"\u003ca\u0026b\u003e"`, ""},
		{"spelling of numbers", `[100,0.5]`, `[1e2,5e-1]`, ""},
		{"lost digits", `[3.141592653589793]`, `[3.141593]`, "$[0]: want 3.141592653589793, got 3.141593"},
		{"a small number lost", `{"x":1.5e-9}`, `{"x":0}`, "$.x: want 1.5e-9, got 0"},
		{"a big integer rounded", `[9007199254740993]`, `[9007199254740992]`, "$[0]: want 9007199254740993, got 9007199254740992"},
		{"missing key", `{"a":{"b":1}}`, `{"a":{}}`, "$.a.b: missing"},
		{"extra key", `{"a":1}`, `{"a":1,"b":2}`, "$.b: not in the reference"},
		{"items", `[1,2]`, `[1]`, "$: want 2 items, got 1"},
		{"null is not empty", `{"a":null}`, `{"a":[]}`, "$.a: want null, got []"},
		{"string for number", `[1]`, `["1"]`, `$[0]: want 1, got "1"`},
		{"cut off", `[1,2,3]`, `[1,2`, "not valid JSON"},
		{"empty", `[1]`, ``, "not valid JSON (empty)"},
		{"two documents", `[1]`, `[1][1]`, "something follows"},
		{"hostile exponent", `[1]`, `[1e999999999]`, "$[0]: want 1, got 1e999999999"},
		{"hostile exponents", "[" + strings.Repeat("1e-9999,", 5000) + "1]", "[" + strings.Repeat("10e-999999,", 5000) + "1]", "$[0]: want 1e-9999, got 10e-999999"},
		{"zeros", `[0,-0,0e5]`, `[0.0,0,0.00e-999999]`, ""},
		{"hostile negative exponent", `[1]`, `[1e-999999999]`, "$[0]: want 1, got 1e-999999999"},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			d := codec.Diff([]byte(c.want), []byte(c.got))
			if c.diff == "" && d != "" || !strings.Contains(d, c.diff) {
				t.Errorf("diff %q, want %q", d, c.diff)
			}
			if strings.Contains(d, "\n") {
				t.Errorf("diff is not one line: %q", d)
			}
			if time.Since(start) > 10*time.Second {
				t.Error("comparing took forever")
			}
		})
	}
}

func FuzzDiff(f *testing.F) {
	f.Add([]byte(`{"a":[1,2.5,"x",null,true]}`), []byte(`{"a":[1,2.50,"x",null,true]}`))
	f.Add([]byte(`[1e400]`), []byte(`[1e-400]`))
	f.Fuzz(func(t *testing.T, want, got []byte) {
		d := codec.Diff(want, got)
		if strings.Contains(d, "\n") {
			t.Errorf("not one line: %q", d)
		}
		if same := codec.Diff(want, want); json.Valid(want) && same != "" {
			t.Errorf("a document differs from itself: %s", same)
		}
	})
}
