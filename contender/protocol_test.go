package contender

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/tarebench/tare/contender/wire"
)

const protocolDoc = "../docs/contender-protocol.md"

// block returns the contents of the only fenced block of that language.
func block(t *testing.T, doc, language string) string {
	t.Helper()
	found := regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(doc, -1)
	if len(found) != 1 {
		t.Fatalf("%d blocks of %s in %s, want 1", len(found), language, protocolDoc)
	}
	return found[0][1]
}

func readProtocol(t *testing.T) string {
	t.Helper()
	doc, err := os.ReadFile(protocolDoc)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(doc), "\r\n", "\n")
}

// marshaller is the contender of the documented exchange: encoding/json.
func marshaller() Program {
	return Program{Kind: "codec", Variants: []string{"plain"}, Prepare: func(_ string, w wire.Workload, bodies [][]byte) (Work, error) {
		if w.Op != "marshal" {
			return Work{}, ErrUnsupported
		}
		values := make([]any, len(bodies))
		for i, b := range bodies {
			if err := json.Unmarshal(b, &values[i]); err != nil {
				return Work{}, err
			}
		}
		var last []byte
		do := func(i int) (int, error) {
			out, err := json.Marshal(values[i])
			last = out
			return len(out), err
		}
		return Work{Fresh: true, Do: do, Answer: func(i int) (Answered, error) {
			_, err := do(i)
			return Answered{Output: last}, err
		}}, nil
	}}
}

// TestDocumentedExchange runs the example of the specification: its messages
// have no field that the protocol lacks, and the replies are those of Serve
// but for what is measured.
func TestDocumentedExchange(t *testing.T) {
	doc := readProtocol(t)
	exchange, pool := block(t, doc, "exchange"), block(t, doc, "ndjson")
	t.Chdir(t.TempDir())
	if err := os.WriteFile("pool.ndjson", []byte(pool), 0o600); err != nil {
		t.Fatal(err)
	}
	var requests bytes.Buffer
	var asked []wire.Request
	var documented []wire.Reply
	for line := range strings.Lines(exchange) {
		if q, ok := strings.CutPrefix(line, "> "); ok {
			requests.WriteString(q)
			asked = append(asked, strict[wire.Request](t, q))
		} else if a, ok := strings.CutPrefix(line, "< "); ok {
			documented = append(documented, strict[wire.Reply](t, a))
		} else {
			t.Fatalf("a line of neither side: %q", line)
		}
	}
	var replies bytes.Buffer
	if err := Serve(marshaller(), &requests, &replies); err != nil {
		t.Fatal(err)
	}
	if len(asked) != len(documented) || len(asked) < 8 {
		t.Fatalf("%d requests, %d replies", len(asked), len(documented))
	}
	r := wire.NewReader(&replies)
	for i, want := range documented {
		got, err := r.Reply()
		if err != nil {
			t.Fatalf("reply %d: %v", i+1, err)
		}
		if q := asked[i]; q.Op == wire.OpWarm || q.Until == untilGC {
			if got.Ops == 0 || want.Ops == 0 {
				t.Errorf("reply %d: no operations: %+v", i+1, got)
			}
			got.Ops, want.Ops = 0, 0
			got.BytesOut, want.BytesOut = 0, 0
		}
		if got, want := unmeasured(got), unmeasured(want); !reflect.DeepEqual(got, want) {
			t.Errorf("reply %d:\n got %+v\nwant %+v", i+1, got, want)
		}
	}
}

func strict[M any](t *testing.T, line string) M {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(line))
	d.DisallowUnknownFields()
	var m M
	if err := d.Decode(&m); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return m
}

// unmeasured leaves out what differs from one run to the next.
func unmeasured(a wire.Reply) wire.Reply {
	a.PID, a.Go, a.GOMAXPROCS = 0, "", 0
	a.WallNS, a.CPUNS, a.IdleCPUNS, a.GC, a.Bytes, a.Allocs = 0, 0, 0, 0, 0, 0
	return a
}

// TestEveryFieldIsDocumented: the specification names every field, operation
// and error class of the protocol.
func TestEveryFieldIsDocumented(t *testing.T) {
	doc := readProtocol(t)
	words := []string{wire.Protocol, wire.EnvWire, wire.OpHello, wire.OpPrepare, wire.OpAnswer, wire.OpWarm, wire.OpSlice, wire.OpStats, wire.OpBye,
		classUnknownOp, classBadRequest, classLoad, classInternal, untilOps, untilGC}
	for _, v := range []any{wire.Request{}, wire.Reply{}, wire.Workload{}, wire.Answer{}, wire.Error{}} {
		for i := range reflect.TypeOf(v).NumField() {
			name, _, _ := strings.Cut(reflect.TypeOf(v).Field(i).Tag.Get("json"), ",")
			words = append(words, name)
		}
	}
	for _, w := range words {
		if !strings.Contains(doc, "`"+w+"`") {
			t.Errorf("%s does not explain `%s`", protocolDoc, w)
		}
	}
}
