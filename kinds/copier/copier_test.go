package copier_test

import (
	"strings"
	"testing"

	"github.com/tarebench/tare"
	sdk "github.com/tarebench/tare/contender/copier"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/kinds/copier"
)

func answer(t *testing.T, fixture string, n int, names sdk.Names, op string, seed uint64) []byte {
	t.Helper()
	shape, err := sdk.ShapeOf(fixture, n)
	if err != nil {
		t.Fatal(err)
	}
	out, err := sdk.Expected(shape, names, op, seed)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What is written is what answers are compared with, and the same for all ops.
func TestInputIsWrittenAndCompared(t *testing.T) {
	k := copier.New()
	in, err := k.Input(tare.Workload{ID: "w", Fixture: "object", N: 3, Op: "batch", Pool: 2, Set: map[string]string{"names": "edges"}}, "", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	other, err := k.Input(tare.Workload{ID: "v", Fixture: "object", N: 3, Op: "batch-into", Pool: 2, Set: map[string]string{"names": "edges"}}, "", t.TempDir())
	if err != nil || other.SHA256 != in.SHA256 {
		t.Errorf("two ops of one fixture have different values: %v", err)
	}
	if in.Bodies != 2 || in.Set["names"] != "edges" || in.N != 3 || in.Fixture != "object" {
		t.Errorf("input %+v", in)
	}
	right := rightAnswers(t, in)
	right[1].Output = []byte(strings.Replace(string(right[1].Output), `"Level":`, `"Level":1`, 1))
	wrong, err := k.Compare(in, append(right, wire.Answer{Case: 0, Error: "made up"}))
	if err != nil || len(wrong) != 2 || !strings.HasPrefix(wrong[0], "case 1: at byte ") || !strings.Contains(wrong[1], "made up") {
		t.Errorf("wrong = %q, %v, want cases 1 and 0", wrong, err)
	}
	if _, err := k.Compare(in, []wire.Answer{{Case: 2}}); err == nil {
		t.Error("an answer to a case that does not exist was accepted")
	}
}

// rightAnswers are right answers to all cases of in.
func rightAnswers(t *testing.T, in wire.Workload) []wire.Answer {
	t.Helper()
	var list []wire.Answer
	for i, seed := range readSeeds(t, in.Input) {
		names, err := sdk.NamesOf(in.Set["names"])
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, wire.Answer{Case: i, Output: answer(t, in.Fixture, in.N, names, in.Op, seed)})
	}
	return list
}

func TestDescribe(t *testing.T) {
	for _, c := range []struct {
		w    tare.Workload
		want int64 // bytes
	}{
		{tare.Workload{ID: "w", Fixture: "person", Op: "single"}, 64 * 88},
		{tare.Workload{ID: "w", Fixture: "object", N: 100, Op: "batch", Pool: 3}, 3 * 100 * 128},
		{tare.Workload{ID: "w", Fixture: "object", N: 10000, Op: "frame"}, 2 * 10000 * 128},
		{tare.Workload{ID: "w", Fixture: "flat", N: 8192, Op: "into"}, 16 * 65536},
		{tare.Workload{ID: "w", Fixture: "nested", N: 9, Op: "single", Pool: 1}, 144},
		{tare.Workload{ID: "w", Fixture: "fields", N: 1, Op: "single", Pool: 1}, 4},
		{tare.Workload{ID: "w", Fixture: "devices", N: 2, Op: "single", Pool: 1, Set: map[string]string{"names": "bytes"}}, 40 + 2*24 + 8*4 + 3*61},
	} {
		k := copier.New()
		in, err := k.Input(c.w, "", t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		w, err := k.Describe(c.w, in)
		if err != nil || w.Bytes != c.want || w.N != c.w.N {
			t.Errorf("%+v: %d bytes, want %d; %v", c.w, w.Bytes, c.want, err)
		}
	}
}

func TestBadWorkloads(t *testing.T) {
	for _, c := range []struct {
		w    tare.Workload
		want string
	}{
		{tare.Workload{ID: "w", Fixture: "person", Op: "sing"}, `workload "w": unknown op "sing"; a copier supports`},
		{tare.Workload{ID: "w", Fixture: "planets", Op: "into"}, `unknown fixture "planets"`},
		{tare.Workload{ID: "w", File: "mine.json", Op: "into"}, "not from mine.json"},
		{tare.Workload{ID: "w", Fixture: "flat", N: 5, Op: "into"}, "only, not 5"},
		{tare.Workload{ID: "w", Fixture: "devices", N: 5, Op: "frame"}, "op frame is of an array"},
		{tare.Workload{ID: "w", Fixture: "person", Op: "into", Set: map[string]string{"names": "odd"}}, `unknown names "odd"`},
		{tare.Workload{ID: "w", Fixture: "person", Op: "into", Set: map[string]string{"depth": "3"}}, `unknown word "depth" under set; known: names, producer`},
	} {
		_, err := copier.New().Input(c.w, "", t.TempDir())
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v, want one line with %q", c.w, err, c.want)
		}
	}
}

// TestExams: what is kept is no difference; what is changed or refused is one.
func TestExams(t *testing.T) {
	k := copier.New()
	list, err := k.Exams(t.TempDir())
	if err != nil || len(list) == 0 {
		t.Fatal(err)
	}
	for _, in := range list {
		right := rightAnswers(t, in)[0]
		if d, differs := k.Differ(in, right); differs {
			t.Errorf("%s: %+v", in.ID, d)
		}
		changed := wire.Answer{Output: []byte(strings.Replace(string(right.Output), `"Name":"`, `"Name":"?`, 1))}
		if d, differs := k.Differ(in, changed); !differs || d.Class != tare.DiffersInValue || !strings.HasPrefix(d.Says, "changes a char") {
			t.Errorf("%s: %+v", in.ID, d)
		}
		if d, differs := k.Differ(in, wire.Answer{Error: "no"}); !differs || d.Class != tare.DiffersInAcceptance || !strings.HasPrefix(d.Says, "refuses a char") {
			t.Errorf("%s: %+v", in.ID, d)
		}
		if _, differs := k.Differ(in, wire.Answer{Case: 9}); differs {
			t.Errorf("%s: a case that was not asked", in.ID)
		}
	}
}
