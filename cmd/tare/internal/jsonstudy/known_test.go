package jsonstudy

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/cmd/tare/internal/testtare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/kinds/codec"
	"github.com/tarebench/tare/lab"
)

// known is a difference of a codec that was reported in public, on a document of the type in
// testdata/known.
type known struct {
	codec, issue string
	workload     string
	document     string
	want, got    string // what encoding/json makes of it, and the codec; got is an error if the document is refused
	says         string
}

const labels = `{"labels":{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":10}}`

func knownDifferences() []known {
	const (
		v2    = "golang/go/issues/71497" // the proposal for encoding/json/v2 lists these
		wait  = `{"wait":{"wait":1500}}`
		html  = `{"text":{"text":"<b>"}}`
		zero  = `{"zero":{"at":"0001-01-01T00:00:00Z","n":1}}`
		small = `{"ratio":{"ratio":9.9e-8}}`
	)
	escaped := `{"text":{"text":"\u003cb\u003e"}}`
	other := strings.Replace(labels, `"a":1,"b":2`, `"b":2,"a":1`, 1)
	return []known{
		{"segmentio", "segmentio/encoding/issues/90", "typed/encode", wait, wait, `{"wait":{"wait":"1.5µs"}}`, `encodes $.wait.wait: 1500 as "1.5µs"`},
		{"segmentio", "segmentio/encoding/issues/148", "typed/encode", zero, `{"zero":{"n":1}}`, zero, `encodes $.zero.at: nothing as "0001-01-01T00:00:00Z"`},
		{"jsoniter-fastest", "json-iterator/go/issues/86", "typed/encode", `{"ratio":{"ratio":0.7488616345887485}}`, `{"ratio":{"ratio":0.7488616345887485}}`, `{"ratio":{"ratio":0.748862}}`,
			"encodes $.ratio.ratio: 0.7488616345887485 as 0.748862"},
		{"jsoniter-fastest", "json-iterator/go/issues/22", "any/encode", small, small, `{"ratio":{"ratio":0}}`, "encodes $.ratio.ratio: 9.9e-8 as 0"},
		{"jsoniter-fastest", "json-iterator/go/issues/71", "typed/encode", html, escaped, html, `encodes "\u003cb\u003e" as "<b>"`},
		{"jsoniter-default", "json-iterator/go/issues/54", "typed/encode", labels, labels, other, "encodes keys in another order"},
		{"jsoniter-compatible", "json-iterator/go/issues/714", "typed/encode", zero, `{"zero":{"n":1}}`, zero, `encodes $.zero.at: nothing as "0001-01-01T00:00:00Z"`},
		{"jsoniter-compatible", "goccy/go-json/pull/33", "typed/encode", small, small, `{"ratio":{"ratio":9.9e-08}}`, "encodes 9.9e-8 as 9.9e-08"},
		{"sonic-std", "bytedance/sonic/issues/93", "typed/decode", `{"ratio":{"ratio":-0}}`, `{"ratio":{"ratio":-0}}`, `{"ratio":{"ratio":0}}`, "decodes $.ratio.ratio: -0 as 0"},
		{"sonic-default", "bytedance/sonic/issues/4", "any/encode", html, escaped, html, `encodes "\u003cb\u003e" as "<b>"`},
		{"sonic-default", "bytedance/sonic/pull/72", "typed/encode", labels, labels, other, "encodes keys in another order"},
		{"easyjson", "mailru/easyjson/issues/237", "typed/decode", `{"text":{"TEXT":"a"}}`, `{"text":{"text":"a"}}`, `{"text":{"text":""}}`, `decodes $.text.text: "a" as ""`},
		{"easyjson", "mailru/easyjson/issues/292", "typed/encode", labels, labels, other, "encodes keys in another order"},
		{"ffjson", "pquerna/ffjson/issues/229", "typed/decode", `{"ports":{"80":"a"}}`, `{"ports":{"80":"a"}}`, "cannot unmarshal tok:string into Go value for int", "refuses x.ndjson:1"},
		// Its encoder orders keys as it likes, and is not asked what it decoded.
		{"ffjson", "pquerna/ffjson", "typed/decode", labels, labels, labels, "it does not differ"},
		{"go-json-experiment", "golang/go/issues/71631", "typed/encode", wait, wait, "no default representation", "refuses x.ndjson:1"},
		{"go-json-experiment", v2, "typed/encode", `{"list":{"items":null,"names":null}}`, `{"list":{"items":null,"names":null}}`, `{"list":{"items":[],"names":{}}}`,
			"encodes $.list.items: null as [], $.list.names: null as {}"},
		{"go-json-experiment", v2, "typed/encode", `{"hash":{"sum":[1,2,3,4]}}`, `{"hash":{"sum":[1,2,3,4]}}`, `{"hash":{"sum":"AQIDBA=="}}`, `encodes $.hash.sum: [1,2,3,4] as "AQIDBA=="`},
		{"go-json-experiment", v2, "typed/encode", `{"empty":{"n":0}}`, `{"empty":{}}`, `{"empty":{"n":0}}`, "encodes $.empty.n: nothing as 0"},
		{"go-json-experiment", v2, "typed/decode", `{"text":{"TEXT":"a"}}`, `{"text":{"text":"a"}}`, `{"text":{"text":""}}`, `decodes $.text.text: "a" as ""`},
		{"go-json-experiment", v2, "any/decode", `{"a":1,"a":2}`, `{"a":2}`, "duplicate object member name", "refuses x.ndjson:1"},
		{"go-json-experiment", v2, "any/decode", `{"text":"\ud800"}`, `{"text":"` + "\ufffd" + `"}`, "invalid surrogate pair", "refuses x.ndjson:1"},
		{"go-json-experiment", v2, "typed/decode", `{"pair":{"pair":[1]}}`, `{"pair":{"pair":[1,0]}}`, "too few array elements", "refuses x.ndjson:1"},
	}
}

// named says what tare json says of an answer.
func (k known) named(kind *Kind, exam wire.Workload, a wire.Answer) string {
	d, differs := kind.Differ(exam, a)
	if !differs {
		return "it does not differ"
	}
	return d.Says
}

// exam finds the exam of the workload.
func (k known) exam(t *testing.T, kind *Kind) wire.Workload {
	t.Helper()
	exams, err := kind.Exams(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range exams {
		if e.ID == k.workload {
			return e
		}
	}
	t.Fatalf("%s: nobody is asked for %s", k.codec, k.workload)
	return wire.Workload{}
}

// TestKnownDifferences: tare json names what is known of codecs, on a small document for each. Without
// -short the codecs themselves are asked; otherwise what they answered before.
func TestKnownDifferences(t *testing.T) {
	for _, k := range knownDifferences() {
		kind := NewKind(nil, docsOf(t, k.document))
		w := kind.works[k.workload]
		w.reference = [][]byte{[]byte(k.want)}
		kind.works[k.workload] = w
		a := wire.Answer{Output: []byte(k.got)}
		if strings.HasPrefix(k.says, "refuses ") {
			a = wire.Answer{Error: k.got}
		}
		if says := k.named(kind, k.exam(t, kind), a); says != k.says {
			t.Errorf("https://github.com/%s, %s: %q, want %q", k.issue, k.document, says, k.says)
		}
	}
	if testing.Short() {
		t.Skip("asks recorded answers only: the codecs are built without -short")
	}
	study, sources, typ := knownCodecs(t)
	open := map[string]*trial.Session{}
	for _, k := range knownDifferences() {
		if open[k.codec] == nil {
			open[k.codec] = start(t, sources, k.codec)
		}
		kind := NewKind(codec.New(), docsOf(t, k.document))
		only := study
		only.Workloads = nil
		for _, w := range study.Workloads {
			if w.ID == k.workload {
				only.Workloads = append(only.Workloads, w)
			}
		}
		if err := kind.Refer(t.Context(), sources, only, typ, trial.Spec{}, t.TempDir()); err != nil {
			t.Fatal(err)
		}
		exam := k.exam(t, kind)
		if got := string(kind.works[k.workload].reference[0]); got != k.want {
			t.Errorf("%s: encoding/json makes %s of %s, want %s", k.workload, got, k.document, k.want)
		}
		if _, err := open[k.codec].Prepare(t.Context(), exam); err != nil {
			t.Errorf("%s: %v", k.codec, err)
			continue
		}
		answers, err := open[k.codec].Answer(t.Context(), exam.ID, []int{0})
		if err != nil {
			t.Errorf("%s: %v", k.codec, err)
			continue
		}
		if says := k.named(kind, exam, answers[0]); says != k.says || !strings.Contains(answers[0].Error, k.got) && answers[0].Error != "" {
			t.Errorf("https://github.com/%s: %s says %q (%s), want %q", k.issue, k.codec, says, answers[0].Error, k.says)
		}
	}
}

// knownCodecs builds the codecs of the known differences for their type.
func knownCodecs(t *testing.T) (tare.Study, lab.Sources, Type) {
	t.Helper()
	src, err := os.ReadFile("testdata/known/known.go")
	if err != nil {
		t.Fatal(err)
	}
	o, err := Find(t.Context(), "", own(t, map[string]string{"go.mod": "module example.com/known\n\ngo 1.25\n", "known.go": string(src)}), "./.Document")
	if err != nil {
		t.Fatal(err)
	}
	b := Bench{Cache: testtare.Cache(t)}
	typ, err := b.Describe(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	from, err := catalog.Open(repository)
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	for _, k := range knownDifferences() {
		asked[k.codec] = true
	}
	c, left, err := b.Catalog(t.Context(), from, typ, o, func(id string) bool { return asked[id] })
	if err != nil || len(left) > 0 {
		t.Fatalf("left out %v, %v", left, err)
	}
	study, _ := NewStudy("json-known", "", c.Leaves(), "all", func(id string) bool { return asked[id] })
	return study, o.Sources(&catalog.Sources{Catalog: c, Builder: &build.Builder{Cache: b.Cache}}), typ
}

// start starts a codec.
func start(t *testing.T, sources lab.Sources, id string) *trial.Session {
	t.Helper()
	p, err := sources.Program(t.Context(), "codec", "", tare.Entry{ID: id})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := codec.New().Open(t.Context(), p, trial.Spec{Name: id})
	if err != nil {
		t.Fatal(err)
	}
	s := &trial.Session{Conn: conn, Trial: id}
	t.Cleanup(func() { s.Close(context.Background()) })
	if _, err := s.Hello(t.Context(), p.Variant, "1"); err != nil {
		t.Fatal(err)
	}
	return s
}
