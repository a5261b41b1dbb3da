package conformance_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/codec"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/conformance"
)

// TestMain makes the test binary the contender with the defect that its first argument names.
func TestMain(m *testing.M) {
	beRouter()
	beCopier()
	for _, d := range defects() {
		if len(os.Args) == 2 && os.Args[1] == d.name {
			d.main()
			os.Exit(0)
		}
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // else each of a hundred contenders sleeps a second under -race
	os.Exit(m.Run())
}

// kinds are the suites that need no app.
func kinds() map[string]conformance.Kind {
	return map[string]conformance.Kind{"codec": conformance.Codecs(), "copier": conformance.Copiers(), "router": conformance.Routers()}
}

func command(defect string) []string { return []string{os.Args[0], defect} }

// defect is a contender that does one thing wrong, and what the suite says.
type defect struct {
	name string
	main func()
	want string // empty: nothing is wrong
}

func marshal(f func(v any) ([]byte, error)) func() {
	return func() { codec.Main(codec.Impl{Marshal: f}) }
}

func defects() []defect {
	calls := 0
	var kept []byte
	return []defect{
		{"none", marshal(json.Marshal), ""},
		{"indented", marshal(func(v any) ([]byte, error) { return json.MarshalIndent(v, "", "\t") }), ""},
		{"wrong answer", marshal(func(any) ([]byte, error) { return []byte("[]"), nil }), "case 7: other JSON"},
		{"no JSON", marshal(func(v any) ([]byte, error) { b, err := json.Marshal(v); return b[1:], err }), "case 7: not JSON"},
		{"error", marshal(func(any) ([]byte, error) { return nil, errors.New("type not registered") }), "type not registered"},
		{"late error", marshal(func(v any) ([]byte, error) {
			if calls++; calls > 9 {
				return nil, errors.New("worn out")
			}
			return json.Marshal(v)
		}), "worn out"},
		{"panic", marshal(func(any) ([]byte, error) { panic("ouch") }), "panic: ouch"},
		{"exit", marshal(func(any) ([]byte, error) { os.Stderr.WriteString("fatal: no"); os.Exit(3); return nil, nil }), "it printed: fatal: no"},
		{"hang", marshal(func(any) ([]byte, error) { select {} }), "no reply"},
		{"not fresh", marshal(func(v any) ([]byte, error) {
			if kept == nil {
				kept, _ = json.Marshal(v)
			}
			return kept, nil
		}), "case 0: other JSON"},
		{"nothing", func() { codec.Main(codec.Impl{}) }, "supports none"},
		{"null", func() { codec.Main(codec.Null()) }, ""},
		{"only fields", func() { codec.Main(codec.Impl{Fields: picker(fixture.FieldsTarget)}) }, ""},
		{"all fields", func() { codec.Main(codec.Impl{Fields: picker(fixture.Target)}) }, "devices/fields: case 7: other JSON"},
		{"binary", func() { codec.Main(gobs()) }, ""},
		{"binary unsaid", func() { i := gobs(); i.Binary = false; codec.Main(i) }, "devices/marshal: case 7: not JSON"},
		{"binary loses", func() {
			i := gobs()
			i.Plain = func(v any) (any, error) { return (*v.(*[]fixture.Device))[1:], nil }
			codec.Main(i)
		}, "devices/marshal: case 7: other JSON"},
		{"round trip loses", func() {
			codec.Main(codec.Impl{Marshal: json.Marshal, Unmarshal: func([]byte, any) error { return nil }})
		}, "devices/roundtrip: case 7: other JSON"},
		{"size unsaid", func() { sized(0, 88) }, "devices/roundtrip: case 7: size 0"},
		{"size negative", func() { sized(-88, 88) }, "devices/roundtrip: case 7: size -88"},
		{"size wrong", func() { sized(80, 88) }, "1760 bytes_out, the answers to the same bodies have 1600"},
		{"size right", func() { sized(88, 88) }, ""},
		{"output not counted", func() { sized(88, 0) }, ""}, // what is left out was not measured
		{"output miscounted", func() {
			obey(func(q wire.Request, a *wire.Reply) {
				if q.Op == wire.OpStats {
					a.Bytes, a.BytesOut = 1<<20, 88
				}
			}, false)
		}, "devices/marshal: stats: 88 bytes_out"},
		{"any heap", func() {
			obey(func(q wire.Request, a *wire.Reply) {
				if q.Workload != nil && q.Workload.Heap > 0 {
					a.Error = nil
				}
			}, false)
		}, "heap_bytes of 1 TB is not refused"},
		{"no heap", func() {
			obey(func(q wire.Request, a *wire.Reply) {
				if q.Workload != nil && q.Workload.Heap > 0 {
					a.Error = &wire.Error{Class: "bad-request", Message: "no heap"}
				}
			}, false)
		}, "with heap_bytes of 1 MB: prepare: error reply: bad-request: no heap"},
		{"variants", func() { codec.Variants(map[string]codec.Impl{"a": {Marshal: json.Marshal}}) }, "variants [a], contender.json has []"},
		{"kind", func() {
			contender.Main(contender.Program{Kind: "router", Prepare: func(string, wire.Workload, [][]byte) (contender.Work, error) {
				return contender.Work{}, contender.ErrUnsupported
			}})
		}, `kind "router"`},
		{"waits alone", func() {
			if os.Getenv(wire.EnvWire) == "" {
				time.Sleep(time.Minute)
			}
			marshal(json.Marshal)()
		}, "without a lab it does not end"},
		{"stays", func() { obey(nil, true) }, "it is still there"},
		{"wrong id", func() { obey(func(_ wire.Request, a *wire.Reply) { a.ID++ }, false) }, "the reply has id 2, the request 1"},
		{"garbage", func() { obey(func(_ wire.Request, a *wire.Reply) { a.ID = -1 }, false) }, "not a JSON object"},
		{"obliging", func() {
			obey(func(q wire.Request, a *wire.Reply) {
				if q.Op == "no-such-op" {
					a.Error = nil
				}
			}, false)
		}, "is no error reply"},
		{"negative", func() { obey(func(_ wire.Request, a *wire.Reply) { a.CPUNS = -1 }, false) }, "negative number"},
		{"short slice", func() {
			obey(func(q wire.Request, a *wire.Reply) {
				if q.Op == wire.OpSlice {
					a.Ops = 36
				}
			}, false)
		}, "a slice of 36 operations instead of"},
		{"allocates too little", func() {
			obey(func(q wire.Request, a *wire.Reply) {
				if q.Op == wire.OpStats {
					a.Bytes, a.BytesOut = 64, 88
				}
			}, false)
		}, "declared fresh"},
	}
}

// picker decodes into what target makes.
func picker(target func(string) func() any) func(string) func([]byte) (any, error) {
	return func(name string) func([]byte) (any, error) {
		return func(data []byte) (any, error) {
			into := target(name)()
			return into, json.Unmarshal(data, into)
		}
	}
}

// gobs is encoding/gob as a contender.
func gobs() codec.Impl {
	return codec.Impl{
		Marshal: func(v any) ([]byte, error) {
			var b bytes.Buffer
			err := gob.NewEncoder(&b).Encode(v)
			return b.Bytes(), err
		},
		Stream:    func(w io.Writer, v any) error { return gob.NewEncoder(w).Encode(v) },
		Unmarshal: func(data []byte, into any) error { return gob.NewDecoder(bytes.NewReader(data)).Decode(into) },
		Binary:    true,
		Typed:     true,
	}
}

// TestSuiteFindsDefects: every defect is found, for its own reason, and sound contenders pass.
func TestSuiteFindsDefects(t *testing.T) {
	for _, d := range defects() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			limit := 30 * time.Second
			if d.name == "hang" || d.name == "stays" || d.name == "waits alone" {
				limit = 2 * time.Second
			}
			s := conformance.Subject{Command: command(d.name), Manifest: conformance.Manifest{ID: "x", Kind: "codec"}, Limit: limit}
			s.Enough = func(wrong error) bool { return d.want != "" && strings.Contains(wrong.Error(), d.want) }
			err := errors.Join(s.Test(kinds(), t.TempDir())...)
			switch {
			case d.want == "" && err != nil:
				t.Errorf("a sound contender: %v", err)
			case d.want != "" && err == nil:
				t.Error("the defect is not found")
			case d.want != "" && !s.Enough(err):
				t.Errorf("found %v; want %q", err, d.want)
			}
		})
	}
}

func TestTrapsMayAnswerWrong(t *testing.T) {
	s := conformance.Subject{Command: command("wrong answer"), Manifest: conformance.Manifest{ID: "x", Kind: "codec", WrongOnPurpose: true}, Limit: 30 * time.Second}
	for _, err := range s.Test(kinds(), t.TempDir()) {
		// It still declares its output fresh and returns a constant: that is
		// the alloc-floor's business, not a matter of answers.
		if !strings.Contains(err.Error(), "declared fresh") {
			t.Error(err)
		}
	}
}

func TestManifests(t *testing.T) {
	for text, want := range map[string]string{
		`{"id":"a/b","kind":"codec"}`: "not a name",
		`{"kind":"codec"}`:            "not a name",
		`{`:                           "contender.json",
		"":                            "contender.json",
	} {
		dir := t.TempDir()
		if text != "" {
			if err := os.WriteFile(dir+"/contender.json", []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := conformance.ReadManifest(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	s := conformance.Subject{Command: []string{"x"}, Manifest: conformance.Manifest{ID: "x", Kind: "sword"}}
	if err := errors.Join(s.Test(kinds(), t.TempDir())...); err == nil || !strings.Contains(err.Error(), `"sword"`) {
		t.Errorf("an unknown kind: %v", err)
	}
}
