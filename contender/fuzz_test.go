package contender

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/tarebench/tare/contender/wire"
)

// FuzzServe: whatever a lab writes, every line up to bye is answered by one
// reply, and Serve neither panics nor stops before its input does.
func FuzzServe(f *testing.F) {
	good := workload(f, "w", "1", "22", "333")
	prepare, err := json.Marshal(wire.Request{Op: wire.OpPrepare, Workload: good})
	if err != nil {
		f.Fatal(err)
	}
	held := *good
	held.Heap = 1000
	heavy, err := json.Marshal(wire.Request{ID: 1, Op: wire.OpPrepare, Workload: &held})
	if err != nil {
		f.Fatal(err)
	}
	start := `{"op":"hello","protocol":"tare.wire/1"}` + "\n" + string(prepare) + "\n"
	for _, lines := range []string{
		`{"id":1,"op":"answer","on":"w","cases":[0,1,2,-1,3]}`,
		`{"id":1,"op":"warm","on":"w","min_gc":3,"min_ns":1000,"cap_ns":2000}`,
		`{"id":1,"op":"slice","on":"w","until":"ops","ops":7,"lead":3}` + "\n" + `{"id":2,"op":"stats","on":"w","ops":5}`,
		`{"id":1,"op":"slice","on":"w","until":"gc","ops":7,"cycles":2,"min_ns":1,"cap_ns":1000,"cap_ops":3}`,
		`{"op":"bye"}` + "\n" + `{"op":"hello"}`,
		`{"id":1,"op":"reset","on":"w"}`,
		string(heavy) + "\n" + `{"id":2,"op":"stats","on":"w","ops":5}`,
		`{"id":1,"op":"prepare","workload":{"id":"w","heap_bytes":1073741825}}`,
		`{"op":"prepare","workload":{"id":"w"}}` + "\nnull\n[]\n{",
		`{"op":"hello","protocol":"tare.wire/1","variant":"x","seed":"1"}`,
	} {
		f.Add([]byte(lines))
	}
	program := echo(func(i int) error {
		switch i {
		case 1:
			return errors.New("one")
		case 2:
			panic("two")
		}
		return nil
	})
	f.Fuzz(func(t *testing.T, data []byte) {
		in, lines := []byte(start), 2
		for line := range bytes.Lines(append(data, '\n')) {
			in = append(in, brief(line)...)
			lines++
			var q wire.Request
			if json.Unmarshal(line, &q) == nil && q.Op == wire.OpBye && bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) {
				break
			}
		}
		var out bytes.Buffer
		if err := Serve(program, bytes.NewReader(in), &out); err != nil {
			t.Fatalf("Serve: %v", err)
		}
		r := wire.NewReader(&out)
		for i := range lines {
			a, err := r.Reply()
			if err != nil {
				t.Fatalf("reply %d of %d: %v", i, lines, err)
			}
			if a.Error != nil && (a.Error.Class == "" || a.Error.Message == "" || strings.ContainsAny(a.Error.Message, "\n\r")) {
				t.Fatalf("error reply %+v", a.Error)
			}
			if i < 2 && a.Error != nil {
				t.Fatal(a.Error)
			}
		}
		if _, err := r.Reply(); err != io.EOF {
			t.Fatalf("more than %d replies: %v", lines, err)
		}
	})
}

// brief makes a request that asks for hours of work ask for less.
func brief(line []byte) []byte {
	var q wire.Request
	if json.Unmarshal(line, &q) != nil || !bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) {
		return line
	}
	for _, n := range []*int64{&q.MinGC, &q.MinNS, &q.CapNS, &q.Lead, &q.Ops, &q.Cycles, &q.CapOps} {
		*n = min(*n, 1000)
	}
	if q.Workload != nil && q.Workload.Heap <= maxHeap {
		q.Workload.Heap = min(q.Workload.Heap, 1<<20)
	}
	if q.CapNS == 0 && q.Until == untilGC {
		q.CapNS = 1000
	}
	short, err := json.Marshal(q)
	if err != nil {
		panic(fmt.Sprint("a request that was read cannot be written: ", err))
	}
	return append(short, '\n')
}
