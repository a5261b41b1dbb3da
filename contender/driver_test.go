package contender

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/wire"
)

// lab drives Serve as a lab would.
type lab struct {
	t    *testing.T
	raw  io.WriteCloser
	ask  *wire.Writer
	hear *wire.Reader
	id   int64
	done chan error // what Serve returned
}

// visit starts Serve on p and says hello.
func visit(t *testing.T, p Program) *lab {
	t.Helper()
	l := connect(t, p)
	if a := l.do(wire.Request{Op: wire.OpHello, Protocol: wire.Protocol}); a.Error != nil {
		t.Fatal(a.Error)
	}
	return l
}

func connect(t *testing.T, p Program) *lab {
	requests, ask := io.Pipe()
	hear, replies := io.Pipe()
	l := &lab{t: t, raw: ask, ask: wire.NewWriter(ask), hear: wire.NewReader(hear), done: make(chan error, 1)}
	go func() {
		err := Serve(p, requests, replies)
		requests.CloseWithError(io.ErrClosedPipe)
		replies.Close()
		l.done <- err
	}()
	t.Cleanup(func() { ask.Close(); hear.Close() })
	return l
}

// do asks and returns the reply, which must carry the request's id.
func (l *lab) do(q wire.Request) wire.Reply {
	l.t.Helper()
	l.id++
	q.ID = l.id
	if err := l.ask.Request(q); err != nil {
		l.t.Fatalf("%s: %v", q.Op, err)
	}
	a, err := l.hear.Reply()
	if err != nil {
		l.t.Fatalf("%s: %v", q.Op, err)
	}
	if a.ID != q.ID {
		l.t.Fatalf("%s: reply has id %d, want %d", q.Op, a.ID, q.ID)
	}
	return a
}

// ok is do for a request that must succeed.
func (l *lab) ok(q wire.Request) wire.Reply {
	l.t.Helper()
	a := l.do(q)
	if a.Error != nil {
		l.t.Fatalf("%s: %v", q.Op, a.Error)
	}
	return a
}

// end waits for Serve to return.
func (l *lab) end() error {
	l.t.Helper()
	select {
	case err := <-l.done:
		return err
	case <-time.After(20 * time.Second):
		l.t.Fatal("Serve does not return")
		return nil
	}
}

// workload writes bodies to a file and describes them.
func workload(t testing.TB, id string, bodies ...string) *wire.Workload {
	t.Helper()
	var list [][]byte
	for _, b := range bodies {
		list = append(list, []byte(b))
	}
	file := fixture.File(list)
	path := filepath.Join(t.TempDir(), "pool.ndjson")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(file)
	return &wire.Workload{ID: id, Op: "echo", Input: path, Bodies: len(bodies), SHA256: hex.EncodeToString(sum[:])}
}

// echo answers with the body; do, where given, is done besides.
func echo(do func(i int) error) Program {
	return Program{Kind: "test", Prepare: func(variant string, w wire.Workload, bodies [][]byte) (Work, error) {
		if w.Op != "echo" {
			return Work{}, ErrUnsupported
		}
		var last []byte
		op := func(i int) (int, error) {
			last = bodies[i]
			if do != nil {
				return len(last), do(i)
			}
			return len(last), nil
		}
		return Work{Do: op, Answer: func(i int) (Answered, error) {
			_, err := op(i)
			return Answered{Output: append(bytes.Clone(last), variant...)}, err
		}}, nil
	}}
}
