package copier

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/wire"
)

// workload is one of the fixture with bodies for seeds 1 and 2.
func workload(fixture string, n int, op, names string) (wire.Workload, [][]byte) {
	return wire.Workload{ID: "w", Fixture: fixture, N: n, Op: op, Set: map[string]string{SetNames: names}},
		[][]byte{[]byte(`{"seed":1}`), []byte(`{"seed":2}`)}
}

// asJSON goes through JSON, as a copier that starts from Go values does.
func asJSON(from, into any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// TestRoundTrips: every fixture through every op comes to what is expected, the
// second time as the first.
func TestRoundTrips(t *testing.T) {
	for _, c := range []struct {
		fixture string
		sizes   []int
	}{
		{"person", []int{1, 3}}, {"object", []int{1, 3}}, {"audio", []int{1, 2}}, {"devices", []int{1, 5}},
		{"flat", []int{2, 16, 128, 1024, 8192}}, {"nested", []int{1, 2, 3, 4, 5, 6, 7, 8, 9}}, {"deep", []int{1, 2, 3, 6, 9}}, {"fields", []int{1, 4, 16, 64}},
	} {
		for _, n := range c.sizes {
			for _, op := range Ops() {
				shape, err := ShapeOf(c.fixture, n)
				if err != nil {
					t.Fatal(err)
				}
				if shape.Check(op) != nil {
					continue
				}
				for _, i := range []Impl{{Types: RoundTrips(asJSON)}, Null()} {
					w, bodies := workload(c.fixture, n, op, "edges")
					work, _, err := i.prepareOp(w, bodies)
					if err != nil {
						t.Fatalf("%s of %s-%d: %v", op, c.fixture, n, err)
					}
					for _, k := range []int{0, 1, 0} {
						want, err := Expected(shape, NamesEdges, op, uint64(k+1))
						if err != nil || !json.Valid(want) {
							t.Fatalf("%s of %s-%d: %v: %.200s", op, c.fixture, n, err, want)
						}
						a, err := work.Answer(k)
						if err != nil || string(a.Output) != string(want) {
							t.Fatalf("%s of %s-%d: %v\n got %.300s\nwant %.300s", op, c.fixture, n, err, a.Output, want)
						}
						if a.Size < 4 && !i.null {
							t.Errorf("%s of %s-%d: a value of %d bytes", op, c.fixture, n, a.Size)
						}
					}
				}
			}
		}
	}
}

// memory counts what is asked of it.
type memory struct {
	person [88]byte
	asked  *int
	freed  *int
}

func (m *memory) At(int) (unsafe.Pointer, int) { *m.asked++; return unsafe.Pointer(&m.person), 1 }
func (m *memory) Free()                        { *m.freed++ }

// TestMemory: C is asked once per body, and in a frame once per operation; what
// was prepared before is given back.
func TestMemory(t *testing.T) {
	var asked, freed int
	p := newProgram(Impl{
		Memory: func(Source) (Memory, error) { return &memory{asked: &asked, freed: &freed}, nil },
		Types: map[string]Copies{"BenchPerson": Of(Type[Person]{
			Fill:  func(dst *Person, p unsafe.Pointer) error { dst.ID = *(*int32)(p); return nil },
			Slice: func(dst []Person, _ unsafe.Pointer, n int) ([]Person, error) { return make([]Person, n), nil },
		})},
	})
	for i, c := range []struct {
		op   string
		want int
	}{{OpInto, 2}, {OpFrame, 5}} {
		asked = 0
		w, bodies := workload("person", 1, c.op, "")
		work, err := p.Prepare("", w, bodies)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := work.Do(0); err != nil {
				t.Fatal(err)
			}
		}
		if asked != c.want || freed != i {
			t.Errorf("%s: C is asked %d times, want %d; %d freed, want %d", c.op, asked, c.want, freed, i)
		}
	}
	w, bodies := workload("object", 1, OpSingle, "")
	if _, err := p.Prepare("", w, bodies); !errors.Is(err, contender.ErrUnsupported) {
		t.Errorf("a type that it does not know: %v", err)
	}
}

// TestBlind: what fails is an error, unless the benchmark that is reproduced does not look.
func TestBlind(t *testing.T) {
	failing := Of(Type[GameObject]{New: func(unsafe.Pointer) (*GameObject, error) { return nil, errors.New("no") }})
	for _, blind := range []bool{false, true} {
		w, bodies := workload("object", 1, OpSingle, "")
		work, _, err := Impl{Types: map[string]Copies{"GameObject": failing}, Blind: blind}.prepareOp(w, bodies)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := work.Do(0); err == nil || !work.Fresh {
			t.Errorf("fresh %v, error %v", work.Fresh, err)
		}
		a, err := work.Answer(0)
		if blind != (err == nil) || blind && (a.Size != int64(unsafe.Sizeof(GameObject{})) || !strings.HasPrefix(string(a.Output), `{"ID":0,"Name":"",`)) {
			t.Errorf("blind %v: %v, %d bytes, %s", blind, err, a.Size, a.Output)
		}
	}
}

func TestShow(t *testing.T) {
	type odd struct {
		B    bool
		Text [4]byte
		_    int
		P, Q *int
		F    []float32
		U    uint16
	}
	seven := 7
	for _, c := range []struct {
		v    any
		want string
	}{
		{odd{Text: [4]byte{'a', '"', 0, 'b'}, P: &seven}, `{"B":false,"Text":"a\"","P":7,"Q":null,"F":[],"U":0}`},
		{"ü\xff\n\x7f", `"\u00c3\u00bc\u00ff\u000a\u007f"`},
		{[]float32{0.1, 1e30}, `[0.1,1e+30]`},
		{math.Copysign(0, -1), `-0`},
	} {
		if got := string(Show(c.v)); got != c.want || !json.Valid([]byte(got)) {
			t.Errorf("%#v is shown as %s, want %s", c.v, got, c.want)
		}
	}
}

// TestWeight: what a fresh value takes at least.
func TestWeight(t *testing.T) {
	for _, c := range []struct {
		v    any
		want int64
	}{
		{&Person{Name: "abc"}, 40 + 3},
		{[]Person{{Name: "abc"}, {}}, 80 + 3},
		{&DeviceList{Owner: "o", Devices: make([]Device, 2), Tags: make([]int32, 8)}, 64 + 1 + 2*32 + 8*4},
		{&AudioBuffer{}, 4104},
	} {
		if got := countBytes(reflect.ValueOf(c.v)); got != c.want {
			t.Errorf("%T measures %d, want %d", c.v, got, c.want)
		}
	}
}

func TestShapes(t *testing.T) {
	for _, c := range []struct {
		fixture string
		n       int
		op      string
		want    string // of the error; empty: none
	}{
		{"person", 0, OpSingle, ""}, {"person", 9, OpBatch, ""}, {"devices", 9, OpInto, ""}, {"flat", 8192, OpValue, ""},
		{"person", 9, OpSingle, "ask for batch"}, {"devices", 9, OpFrame, "DeviceList is not"}, {"person", 1, "sing", "unknown op"},
		{"flat", 3, OpInto, "n of [2 16 128 1024 8192] only, not 3"}, {"planets", 1, OpInto, `unknown fixture "planets"`}, {"person", 1 << 21, OpBatch, "at most"},
	} {
		shape, err := ShapeOf(c.fixture, c.n)
		if err == nil {
			err = shape.Check(c.op)
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %s-%d: %v, want %q", c.op, c.fixture, c.n, err, c.want)
		}
	}
	if _, err := NamesOf("odd"); err == nil {
		t.Error("odd names are names")
	}
}

// TestNames: lengths and bytes are those that were asked for.
func TestNames(t *testing.T) {
	seen := map[Names][]int{}
	for _, names := range []Names{NamesUsual, NamesEdges, NamesBytes} {
		shape, _ := ShapeOf("person", 500)
		for _, p := range newValues[Person](shape, names, 7) {
			if n := len(p.Name); !slices.Contains(seen[names], n) {
				seen[names] = append(seen[names], n)
			}
			if strings.Contains(p.Name, "\x00") {
				t.Fatalf("a NUL in %q", p.Name)
			}
		}
		slices.Sort(seen[names])
	}
	if u := seen[NamesUsual]; len(u) != 21 || u[0] != 4 || u[20] != 24 {
		t.Errorf("usual lengths %d", u)
	}
	if got := fmt.Sprint(seen[NamesEdges], seen[NamesBytes]); got != "[0 1 62 63 64] [60]" {
		t.Errorf("lengths %s", got)
	}
}
