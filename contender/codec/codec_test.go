package codec

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/wire"
)

// std is encoding/json as a contender.
func std() Impl {
	return Impl{
		Marshal:   json.Marshal,
		Stream:    func(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) },
		Unmarshal: json.Unmarshal,
	}
}

// talk serves the requests after a hello for variant and a prepare of four
// device lists for op, and returns the replies to all of them.
func talk(t *testing.T, p contender.Program, variant, fixtureName, op string, requests ...wire.Request) ([]wire.Reply, [][]byte) {
	t.Helper()
	bodies, err := fixture.Pool("devices", 3, 4)
	if err != nil {
		t.Fatal(err)
	}
	return talkOf(t, bodies, p, variant, fixtureName, op, requests...), bodies
}

// talkOf is talk about other bodies.
func talkOf(t *testing.T, bodies [][]byte, p contender.Program, variant, fixtureName, op string, requests ...wire.Request) []wire.Reply {
	t.Helper()
	file := fixture.File(bodies)
	path := filepath.Join(t.TempDir(), "pool")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(file)
	all := append([]wire.Request{
		{Op: wire.OpHello, Protocol: wire.Protocol, Variant: variant},
		{Op: wire.OpPrepare, Workload: &wire.Workload{ID: "w", Fixture: fixtureName, Op: op, Input: path, Bodies: len(bodies), SHA256: hex.EncodeToString(sum[:])}},
	}, requests...)
	var in, out bytes.Buffer
	w := wire.NewWriter(&in)
	for i, q := range all {
		q.ID, q.On = int64(i), "w"
		if err := w.Request(q); err != nil {
			t.Fatal(err)
		}
	}
	if err := contender.Serve(p, &in, &out); err != nil {
		t.Fatal(err)
	}
	var replies []wire.Reply
	r := wire.NewReader(&out)
	for range all {
		a, err := r.Reply()
		if err != nil {
			t.Fatal(err)
		}
		replies = append(replies, a)
	}
	return replies
}

func one(i Impl) contender.Program { return newProgram(map[string]Impl{"": i}) }

func TestOperations(t *testing.T) {
	ask := []wire.Request{{Op: wire.OpAnswer, Cases: []int{3, 0}}, {Op: wire.OpSlice, Until: "ops", Ops: 4}}
	for _, fixtureName := range []string{"devices", ""} {
		for op, extra := range map[string]string{OpMarshal: "", OpStream: "\n", OpUnmarshal: "", OpAny: ""} {
			got, bodies := talk(t, one(std()), "", fixtureName, op, ask...)
			if got[0].Kind != "codec" || got[0].Variants != nil {
				t.Errorf("hello: %+v", got[0])
			}
			if got[1].Error != nil || got[1].Fresh != (op == OpMarshal) {
				t.Fatalf("%s: prepare: %+v", op, got[1])
			}
			answers := got[2].Answers
			if len(answers) != 2 || answers[0].Error != "" {
				t.Fatalf("%s: answers: %+v", op, got[2])
			}
			if fixtureName == "devices" && op != OpAny { // any sorts keys
				if want := string(bodies[3]) + extra; string(answers[0].Output) != want {
					t.Errorf("%s: answer\n%s\nwant\n%s", op, answers[0].Output, want)
				}
			}
			var have, want any
			if json.Unmarshal(answers[1].Output, &have) != nil || json.Unmarshal(bodies[0], &want) != nil || !reflect.DeepEqual(have, want) {
				t.Errorf("%s of %q: answer %s", op, fixtureName, answers[1].Output)
			}
			size := int64(0)
			for _, b := range bodies {
				size += int64(len(b) + len(extra))
			}
			if op == OpUnmarshal || op == OpAny {
				size = 0
			}
			if got[3].Ops != 4 || got[3].BytesOut != size || got[3].Errors != 0 {
				t.Errorf("%s: slice: %+v, want %d bytes", op, got[3], size)
			}
		}
	}
}

func TestUnsupported(t *testing.T) {
	for op, i := range map[string]Impl{
		OpMarshal:   {Stream: std().Stream, Unmarshal: json.Unmarshal},
		OpStream:    {Marshal: json.Marshal, Unmarshal: json.Unmarshal},
		OpUnmarshal: {Marshal: json.Marshal, Stream: std().Stream},
		OpAny:       {Unmarshal: json.Unmarshal, Typed: true},
		"compress":  std(),
		"":          std(),
	} {
		if got, _ := talk(t, one(i), "", "devices", op); !got[1].Unsupported || got[1].Error != nil {
			t.Errorf("%s: %+v", op, got[1])
		}
	}
}

// A codec with types of its own need not have one for every fixture.
func TestUnsupportedFixture(t *testing.T) {
	i := std()
	i.Load = func(string, []byte) (any, error) { return nil, contender.ErrUnsupported }
	i.Target = func(string) func() any { return nil }
	for _, op := range []string{OpMarshal, OpStream, OpUnmarshal} {
		if got, _ := talk(t, one(i), "", "devices", op); !got[1].Unsupported || got[1].Error != nil {
			t.Errorf("%s: %+v", op, got[1])
		}
	}
}

func TestVariants(t *testing.T) {
	p := newProgram(map[string]Impl{"b": {Marshal: func(any) ([]byte, error) { return []byte("b"), nil }, Shared: true}, "a": std()})
	got, _ := talk(t, p, "b", "devices", OpMarshal, wire.Request{Op: wire.OpAnswer, Cases: []int{0}})
	if !reflect.DeepEqual(got[0].Variants, []string{"a", "b"}) || got[1].Fresh || string(got[2].Answers[0].Output) != "b" {
		t.Errorf("%+v", got)
	}
	if got, _ := talk(t, p, "a", "devices", OpStream); got[1].Error != nil || got[1].Unsupported {
		t.Errorf("%+v", got)
	}
	if got, _ := talk(t, p, "", "devices", OpMarshal); got[1].Fresh != true {
		t.Errorf("an empty variant is not the first: %+v", got)
	}
	if got, _ := talk(t, p, "c", "devices", OpMarshal); got[0].Error == nil {
		t.Errorf("%+v", got)
	}
}

// TestOwnTypes: Load and Target put the codec's own types in place.
func TestOwnTypes(t *testing.T) {
	type own []struct {
		ID string `json:"id"`
	}
	i := std()
	i.Load = func(name string, canonical []byte) (any, error) {
		var v own
		err := json.Unmarshal(canonical, &v)
		return v, err
	}
	i.Target = func(string) func() any { return func() any { return new(own) } }
	const want = `[{"id":"light.device_0000"},{"id":"sensor.device_0001"},{"id":"switch.device_0002"}]`
	for _, op := range []string{OpMarshal, OpStream, OpUnmarshal} {
		got, _ := talk(t, one(i), "", "devices", op, wire.Request{Op: wire.OpAnswer, Cases: []int{1}})
		if out := string(bytes.TrimSpace(got[2].Answers[0].Output)); out != want {
			t.Errorf("%s: %s", op, out)
		}
	}
	i.Load = func(string, []byte) (any, error) { return nil, errors.New("not mine") }
	if got, _ := talk(t, one(i), "", "devices", OpMarshal); got[1].Error == nil || got[1].Error.Message != "load body 0: not mine" {
		t.Errorf("%+v", got[1])
	}
}

// TestAnswerIsTheTimedPath: a codec that goes wrong after a few calls is wrong
// in its answers too, and a writer left unflushed answers with what arrived.
func TestAnswerIsTheTimedPath(t *testing.T) {
	calls := 0
	forgetful := Impl{Marshal: func(v any) ([]byte, error) {
		if calls++; calls > 10 {
			return nil, errors.New("forgotten")
		}
		return json.Marshal(v)
	}}
	got, _ := talk(t, one(forgetful), "", "devices", OpMarshal, wire.Request{Op: wire.OpSlice, Until: "ops", Ops: 12}, wire.Request{Op: wire.OpAnswer, Cases: []int{0}})
	if got[2].Errors != 2 || got[2].Message != "forgotten" || got[3].Answers[0].Error != "forgotten" {
		t.Errorf("slice %+v, answer %+v", got[2], got[3])
	}
	unflushed := Impl{Stream: func(w io.Writer, v any) error { return json.NewEncoder(bufio.NewWriterSize(w, 1<<20)).Encode(v) }}
	got, _ = talk(t, one(unflushed), "", "devices", OpStream, wire.Request{Op: wire.OpAnswer, Cases: []int{0}}, wire.Request{Op: wire.OpSlice, Until: "ops", Ops: 2})
	if a := got[2].Answers[0]; a.Error != "" || len(a.Output) != 0 || got[3].BytesOut != 0 {
		t.Errorf("unflushed: %+v, %+v", a, got[3])
	}
}

// TestAnswersAreKeptApart: a codec that reuses its buffer still gives every case its own answer.
func TestAnswersAreKeptApart(t *testing.T) {
	var buf bytes.Buffer
	reuse := Impl{Shared: true, Marshal: func(v any) ([]byte, error) {
		buf.Reset()
		err := json.NewEncoder(&buf).Encode(v)
		return buf.Bytes(), err
	}}
	got, bodies := talk(t, one(reuse), "", "devices", OpMarshal, wire.Request{Op: wire.OpAnswer, Cases: []int{0, 1, 2, 3}})
	for k, a := range got[2].Answers {
		if strings.TrimSpace(string(a.Output)) != string(bodies[k]) {
			t.Errorf("case %d has another's answer", k)
		}
	}
}

// TestOperationsAreDocumented: authors in other languages read of every
// operation and of every case fixture what to do.
func TestOperationsAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/contender-protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range append(fixture.CaseFixtures(), OpMarshal, OpStream, OpUnmarshal, OpAny, OpFields, OpRoundTrip) {
		if !regexp.MustCompile("(?m)^\\|.*`" + word + "`").Match(doc) {
			t.Errorf("no table of docs/contender-protocol.md has %s", word)
		}
	}
}
