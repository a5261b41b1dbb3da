package codec

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/wire"
)

// exam asks every case of a case fixture.
func exam(t *testing.T, i Impl, name, op string) ([]wire.Reply, [][]byte) {
	t.Helper()
	bodies, err := fixture.Pool(name, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	q := wire.Request{Op: wire.OpAnswer}
	for k := range bodies {
		q.Cases = append(q.Cases, k)
	}
	return talkOf(t, bodies, one(i), "", name, op, q), bodies
}

// TestCaseFixtures: on cases whose decoded values JSON could not tell apart, answers to decoding
// operations are fixture.Show's, and what encoding/json refuses is an error of that case.
func TestCaseFixtures(t *testing.T) {
	for _, tt := range []struct{ name, op string }{{"documents", OpUnmarshal}, {"texts", OpAny}, {"texts", OpUnmarshal}} {
		got, bodies := exam(t, std(), tt.name, tt.op)
		if got[2].Error != nil || len(got[2].Answers) != len(bodies) {
			t.Fatalf("%s of %s: %d answers, %v", tt.op, tt.name, len(got[2].Answers), got[2].Error)
		}
		refused := 0
		for k, a := range got[2].Answers {
			into := fixture.Target(tt.name)()
			if err := json.Unmarshal(bodies[k], into); err != nil {
				if refused++; a.Error == "" || a.Output != nil {
					t.Errorf("%s: case %d is not refused: %s", tt.name, k, a.Output)
				}
			} else if want := string(fixture.Show(into)); a.Error != "" || string(a.Output) != want {
				t.Errorf("%s: case %d: %q %.200s, want %.200s", tt.name, k, a.Error, a.Output, want)
			}
		}
		if refused == 0 || refused == len(bodies) {
			t.Errorf("%s of %s: %d of %d cases are refused", tt.op, tt.name, refused, len(bodies))
		}
	}
}

func TestProbes(t *testing.T) {
	for _, op := range []string{OpMarshal, OpStream, OpRoundTrip} {
		got, bodies := exam(t, std(), "probes", op)
		if got[2].Error != nil || len(got[2].Answers) != len(bodies) {
			t.Fatalf("%s: %d answers, %v %v", op, len(got[2].Answers), got[1].Error, got[2].Error)
		}
		for k, a := range got[2].Answers {
			v, err := fixture.Decode("probes", bodies[k])
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(v)
			switch back := new(fixture.Probe); {
			case err != nil:
				if a.Error == "" {
					t.Errorf("%s: %s has no error: %s", op, bodies[k], a.Output)
				}
			case op != OpRoundTrip:
				if strings.TrimSpace(string(a.Output)) != string(text) || a.Size != 0 {
					t.Errorf("%s: %s: size %d, %s, want %s", op, bodies[k], a.Size, a.Output, text)
				}
			default:
				if err := json.Unmarshal(text, back); err != nil {
					t.Fatal(err)
				}
				if want := string(fixture.Show(back)); string(a.Output) != want || a.Size != int64(len(text)) {
					t.Errorf("%s: %s: size %d, %s, want %d, %s", op, bodies[k], a.Size, a.Output, len(text), want)
				}
			}
		}
	}
}

// TestGeneratedProbe: a codec with types of its own shows like the fixture's,
// with and without Plain.
func TestGeneratedProbe(t *testing.T) {
	type own fixture.Probe
	i := std()
	i.Typed = true
	i.Load = func(name string, canonical []byte) (any, error) {
		v, err := fixture.Decode(name, canonical)
		p, _ := v.(fixture.Probe)
		return own(p), err
	}
	i.Target = func(string) func() any { return func() any { return new(own) } }
	for name, plain := range map[string]func(any) (any, error){"as it is": nil, "plain": func(v any) (any, error) { return fixture.Probe(*v.(*own)), nil }} {
		i.Plain = plain
		for fixtureName, op := range map[string]string{"probes": OpRoundTrip, "documents": OpUnmarshal} {
			want, _ := exam(t, std(), fixtureName, op)
			have, _ := exam(t, i, fixtureName, op)
			for k, a := range have[2].Answers {
				w := want[2].Answers[k]
				if string(a.Output) != string(w.Output) || (a.Error == "") != (w.Error == "") || a.Size != w.Size {
					t.Errorf("%s, %s: case %d: %+v %s, want %+v %s", name, fixtureName, k, a, a.Output, w, w.Output)
				}
			}
		}
		if got, _ := exam(t, i, "texts", OpAny); !refused(got) {
			t.Errorf("%s: %+v", name, got[1])
		}
	}
}

// TestCasesAreNotForAll: a contender that does nothing, and one whose bytes are
// not JSON, have nothing to say to odd JSON.
func TestCasesAreNotForAll(t *testing.T) {
	for _, tt := range []struct{ name, op string }{
		{"probes", OpMarshal}, {"probes", OpStream}, {"probes", OpRoundTrip}, {"documents", OpUnmarshal}, {"texts", OpAny}, {"documents", OpFields},
	} {
		if got, _ := exam(t, Null(), tt.name, tt.op); !refused(got) {
			t.Errorf("null: %s of %s: %+v", tt.op, tt.name, got[1])
		}
		if got, _ := exam(t, opaque(), tt.name, tt.op); refused(got) != (tt.name != "probes") {
			t.Errorf("binary: %s of %s: %+v", tt.op, tt.name, got[1])
		}
	}
}

// TestExcerpts: documents that are almost devices are asked as devices, and
// what encoding/json refuses is refused.
func TestExcerpts(t *testing.T) {
	bodies, err := fixture.Pool("excerpts", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	q, refused := wire.Request{Op: wire.OpAnswer}, 0
	for k := range bodies {
		q.Cases = append(q.Cases, k)
	}
	for k, a := range talkOf(t, bodies, one(std()), "", "devices", OpFields, q)[2].Answers {
		want, err := fixture.Fields("devices", bodies[k])
		if err != nil {
			refused++
		}
		if (a.Error == "") != (err == nil) || string(a.Output) != string(want) {
			t.Errorf("%s: %+v %s, want %s (%v)", bodies[k], a, a.Output, want, err)
		}
	}
	if refused == 0 || refused == len(bodies) {
		t.Errorf("%d of %d are refused", refused, len(bodies))
	}
}
