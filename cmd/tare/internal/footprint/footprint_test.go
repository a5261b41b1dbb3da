package footprint_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/footprint"
)

// A document is refused before anything is decoded, however its values are written.
func TestCountBeforeDecoding(t *testing.T) {
	const n, most = 100_000, 1 << 20
	many := func(element string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(element+",", n), ",") + "]"
	}
	var members strings.Builder
	for i := range n {
		members.WriteString(`"` + strings.Repeat("a", i%7) + string(rune('a'+i%26)) + `":{"b":0},`)
	}
	for name, src := range map[string]string{
		"trials":             `{"trials":` + many("{}") + `}`,
		"of another type":    `{"trials":` + many("1") + `}`,
		"nothing":            `{ "trials" : [ null ` + strings.Repeat("\n, null", n) + ` ] }`,
		"before another":     `{"trials":` + many("1") + `,"trials":[]}`,
		"capitals":           `{"TRIALS":` + many("1") + `}`,
		"a long s":           "{\"trial\u017f\":" + many("1") + `}`,
		"escapes":            `{"tri\u0061ls":` + many("1") + `}`,
		"behind a text":      `{"study":"\\\"]}","trials":` + many("1") + `}`,
		"figures":            `{"rounds":[{"effects":` + many("1") + `},{"effects":` + many("1") + `}]}`,
		"texts":              `{"metrics":` + many(`""`) + `}`,
		"deep":               `{"trials":[{"void":` + many("{}") + `}]}`,
		"of an embedded one": `{"contenders":` + many("{}") + `}`,
		"members":            `{"trials":[{"samples":{` + members.String() + `"z":{}}}]}`,
		"in between":         many(`{"schema":""}`),
	} {
		var to any = &tare.Result{}
		if src[0] == '[' {
			to = new([]*tare.Result)
		}
		var e *footprint.Error
		if err := footprint.Unmarshal([]byte(src), to, most); !errors.As(err, &e) || e.Most != most || e.Offset < 1 || e.Offset >= len(src) {
			t.Errorf("%s: %v", name, err)
		}
		if !reflect.ValueOf(to).Elem().IsZero() {
			t.Errorf("%s: something was decoded", name)
		}
	}
}

// What a result does not know takes nothing, and what is no JSON is for the decoder
// to report.
func TestOthersAreDecoded(t *testing.T) {
	for src, want := range map[string]string{
		`{"new":[` + strings.Repeat("{},", 100_000) + `{}],"study":"s"}`:            "",
		`{"kinds":[` + strings.Repeat(`"a",`, 100_000) + `"a"]}`:                    "kinds: 100001 kinds",
		`{"study":"` + strings.Repeat(`\"[{},`, 100_000) + `","seed":"1"}`:          "",
		`{"new":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`:     "",
		`{"new":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`: "exceeded max depth",
		`{"trials":[{},{}`: "unexpected end", `{"trials"`: "unexpected end", `{"a`: "unexpected end", `"\`: "invalid character", "": "unexpected end", "{,}": "invalid character", "[1": "unexpected end", "]": "invalid character",
	} {
		err := footprint.Unmarshal([]byte(src), &tare.Result{}, 1<<20)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.40q: %v, want %q", src, err, want)
		}
	}
}

// The count is not below what decoding takes.
func TestCountIsEnough(t *testing.T) {
	var samples strings.Builder
	for i := range 20_000 {
		samples.WriteString(`"` + string(rune(0x4e00+i)) + `":{"b":0},`)
	}
	for name, src := range map[string]string{
		"trials":   `{"trials":[` + strings.Repeat("{},", 20_000) + `{}]}`,
		"samples":  `{"trials":[{"samples":{` + samples.String() + `"z":{}}}]}`,
		"machines": `{"machines":[` + strings.Repeat(`{"effects":[{}]},`, 20_000) + `{}]}`,
		"texts":    `{"metrics":[` + strings.Repeat(`"0123456789",`, 20_000) + `""]}`,
		"pointers": `{"trials":[` + strings.Repeat(`{"error":{}},`, 20_000) + `{}]}`,
		"anything": `[` + strings.Repeat(`{"a":[1,"a"]},`, 20_000) + `{}]`,
	} {
		var to any = &tare.Result{}
		if name == "anything" {
			to = new(any)
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		if err := json.Unmarshal([]byte(src), to); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		took := int64(after.HeapAlloc) - int64(before.HeapAlloc)
		if err := footprint.Check([]byte(src), reflect.TypeOf(to), took*3/4); err == nil { // a slice has up to a quarter to spare
			t.Errorf("%s: %d bytes of %d of text count as less than three quarters", name, took, len(src))
		}
		if err := footprint.Check([]byte(src), reflect.TypeOf(to), took*3); err != nil {
			t.Errorf("%s: %d bytes of %d of text count as more than three times", name, took, len(src))
		}
		runtime.KeepAlive(to)
	}
}

// FuzzCheck: whatever a document is, it is gone through to its end if it is JSON, and a
// list in it is counted.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(`{"study":"a\\\"","trials":[{"samples":{"w":{"t":1}}},null],"x":[[],{}],"kinds":[]}`))
	f.Add([]byte(`[1,{"TRIALS" : [ 1 , 2 ] }, "\u0061"]`))
	f.Add([]byte(`{"a`))
	f.Fuzz(func(t *testing.T, src []byte) {
		if err := footprint.Check(src, reflect.TypeFor[tare.Result](), 1<<30); err != nil {
			t.Errorf("%q: %v", src, err)
		}
		if !json.Valid(src) {
			return
		}
		after := append(append([]byte(`[{"study":"s"},`), src...), `,{"metrics":["x","x"]}]`...)
		with, without := error(nil), error(nil)
		for most := int64(0); most < 1<<20; most += 16 {
			with = footprint.Check(after, reflect.TypeFor[[]tare.Result](), most)
			without = footprint.Check(after[:len(after)-len(`,{"metrics":["x","x"]}]`)], reflect.TypeFor[[]tare.Result](), most)
			if without == nil {
				break
			}
		}
		if with == nil {
			t.Errorf("%q hides what is behind it", src)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	src := []byte(`{"trials":[` + strings.Repeat(`{"round":1,"tau":2,"contender":"a","samples":{"w":{"time_ns_per_op":12.5,"allocs_per_op":3}}},`, 1000) + `{}]}`)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if err := footprint.Check(src, reflect.TypeFor[tare.Result](), footprint.Most); err != nil {
			b.Fatal(err)
		}
	}
}
