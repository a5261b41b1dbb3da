package codec_test

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/kinds/codec"
)

// library is what a codec under examination is made of.
type library struct {
	marshal   func(v any) ([]byte, error)
	unmarshal func(data []byte, into any) error
}

func std() library { return library{json.Marshal, json.Unmarshal} }

// answer does what a contender does with one body of an exam.
func (l library) answer(t *testing.T, e wire.Workload, body []byte) ([]byte, error) {
	t.Helper()
	var v, into any
	switch e.Op {
	case "marshal", "roundtrip":
		var err error
		if v, err = fixture.Decode(e.Fixture, body); err != nil {
			t.Fatal(err)
		}
		text, err := l.marshal(v)
		if e.Op == "marshal" || err != nil {
			return text, err
		}
		into, body = fixture.Target(e.Fixture)(), text
	case "unmarshal":
		into = fixture.Target(e.Fixture)()
	case "any":
		into = new(any)
	case "fields":
		into = fixture.FieldsTarget(e.Fixture)()
		if err := l.unmarshal(body, into); err != nil {
			return nil, err
		}
		return json.Marshal(into)
	default:
		t.Fatalf("exam asks to %s", e.Op)
	}
	err := l.unmarshal(body, into)
	return fixture.Show(into), err
}

// writeExams are those of a kind by id, and their bodies.
func writeExams(t testing.TB, k *codec.Kind) (map[string]wire.Workload, map[string][][]byte) {
	t.Helper()
	list, err := k.Exams(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	asked, bodies := map[string]wire.Workload{}, map[string][][]byte{}
	for _, e := range list {
		src, err := os.ReadFile(e.Input)
		if err != nil {
			t.Fatal(err)
		}
		asked[e.ID], bodies[e.ID] = e, fixture.Lines(src)
		if len(bodies[e.ID]) != e.Bodies {
			t.Errorf("%s: %d bodies in the file, %d announced", e.ID, len(bodies[e.ID]), e.Bodies)
		}
	}
	if len(list) != 5 || len(asked) != 5 {
		t.Errorf("%d exams", len(list))
	}
	return asked, bodies
}

// examine is everything in which a library differs.
func examine(t *testing.T, l library) []tare.Difference {
	t.Helper()
	k := codec.New()
	asked, bodies := writeExams(t, k)
	var found []tare.Difference
	for _, id := range []string{"exam/probes/marshal", "exam/probes/roundtrip", "exam/documents/unmarshal", "exam/texts/any", "exam/excerpts/fields"} {
		for i, body := range bodies[id] {
			a := wire.Answer{Case: i}
			out, err := l.answer(t, asked[id], body)
			if err != nil {
				a.Error = err.Error()
			} else {
				a.Output = out
			}
			if d, differs := k.Differ(asked[id], a); differs {
				found = append(found, d)
			}
		}
	}
	return found
}

func says(found []tare.Difference) string {
	var b strings.Builder
	for _, d := range found {
		fmt.Fprintf(&b, "%s %s %s: %s\n", d.Op, d.Case, d.Class, d.Says)
	}
	return b.String()
}

// TestTheReferenceDoesNotDiffer: nor does a copy that words its errors its own
// way, indents, or ends in a newline.
func TestTheReferenceDoesNotDiffer(t *testing.T) {
	own := library{
		marshal: func(v any) ([]byte, error) {
			text, err := json.MarshalIndent(v, "", "\t")
			if err != nil {
				return nil, fmt.Errorf("no")
			}
			return append(text, '\n'), nil
		},
		unmarshal: func(data []byte, into any) error {
			if json.Unmarshal(data, into) != nil {
				return fmt.Errorf("no")
			}
			return nil
		},
	}
	for name, l := range map[string]library{"itself": std(), "own words": own} {
		if found := examine(t, l); len(found) > 0 {
			t.Errorf("%s:\n%s", name, says(found))
		}
	}
	if got, want := codec.New().Reference(), "encoding/json "+runtime.Version(); got != want {
		t.Errorf("reference %q, want %q", got, want)
	}
}

// TestDifferenceIsWhole: all of one, as it enters the result.
func TestDifferenceIsWhole(t *testing.T) {
	got, _ := examDifference(t, "exam/probes/marshal", "html", wire.Answer{Output: put(t, "html", "text", `"<a&b>"`)})
	want := tare.Difference{
		Property: "HTML escaping", Op: "marshal", Case: "html", Class: tare.DiffersInForm,
		Asked: `"<a&b>"`, Reference: `"\u003ca\u0026b\u003e"`, Got: `"<a&b>"`,
		Says: "leaves <, > and & unescaped", BearsOn: []string{"marshal", "stream", "roundtrip"},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	got, _ = examDifference(t, "exam/texts/any", "trailing-comma", wire.Answer{Output: []byte("[float64(1)]")})
	if got.Asked != "[1,]" || !strings.HasPrefix(got.Reference, "refused: ") || got.Got != "[float64(1)]" {
		t.Errorf("%+v", got)
	}
	got, _ = examDifference(t, "exam/texts/any", "words", wire.Answer{Error: "no\nmore"})
	if got.Reference != "[true, false, nil]" || got.Got != "refused: no⟨U+000A⟩more" {
		t.Errorf("%+v", got)
	}
}

func TestNobodysExam(t *testing.T) {
	k := codec.New()
	asked, _ := writeExams(t, k)
	for _, c := range []struct {
		id string
		n  int
	}{{"exam/nobody/sings", 0}, {"exam/texts/any", -1}, {"exam/texts/any", 1 << 20}} {
		e := asked["exam/texts/any"]
		e.ID = c.id
		if d, differs := k.Differ(e, wire.Answer{Case: c.n, Error: "panic: "}); differs {
			t.Errorf("%s, case %d: %+v", c.id, c.n, d)
		}
	}
}

// FuzzDiffer: whatever a contender answers, what is said of it is the same
// each time, one line and not too long.
func FuzzDiffer(f *testing.F) {
	f.Add(uint8(0), uint8(0), []byte(`{"float":0}`), "", false)
	f.Add(uint8(0), uint8(36), []byte(`{"counts":{"key-101":1,"key-100":0}}`), "", true)
	f.Add(uint8(1), uint8(3), []byte(`{Any: int64(1)}`), "", true)
	f.Add(uint8(2), uint8(3), []byte("{Text: \"a\xff\n"), "panic: x", false)
	f.Add(uint8(4), uint8(3), []byte(`[{"id":"\ud800"},{}]`), "", false)
	k := codec.New()
	list, err := k.Exams(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, exam, n uint8, out []byte, failure string, binary bool) {
		e := list[int(exam)%len(list)]
		a := wire.Answer{Case: int(n) % e.Bodies, Output: out, Error: failure}
		if binary {
			a.Size = 1
		}
		d, differs := k.Differ(e, a)
		if again, also := k.Differ(e, a); also != differs || fmt.Sprint(again) != fmt.Sprint(d) {
			t.Errorf("%+v, then %+v", d, again)
		}
		if !differs {
			return
		}
		if !slices.Contains([]tare.DifferenceClass{tare.DiffersInValue, tare.DiffersInForm, tare.DiffersInAcceptance}, d.Class) {
			t.Errorf("class %q", d.Class)
		}
		for name, text := range map[string]string{"says": d.Says, "asked": d.Asked, "reference": d.Reference, "got": d.Got} {
			if text == "" || !utf8.ValidString(text) || strings.ContainsAny(text, "\n\r\x00") || utf8.RuneCountInString(text) > 200 {
				t.Errorf("%s: %q", name, text)
			}
		}
	})
}
