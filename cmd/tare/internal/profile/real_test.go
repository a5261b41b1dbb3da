package profile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/assert"
)

// encoder is a contender that encodes a document with encoding/json.
func encoder() contender.Program {
	return contender.Program{Kind: "test", Prepare: func(_ string, _ wire.Workload, bodies [][]byte) (contender.Work, error) {
		var v any
		if err := json.Unmarshal(bodies[0], &v); err != nil {
			return contender.Work{}, err
		}
		var last []byte
		do := func(int) (n int, err error) {
			last, err = json.Marshal(v)
			return len(last), err
		}
		return contender.Work{Do: do, Answer: func(i int) (contender.Answered, error) {
			_, err := do(i)
			return contender.Answered{Output: last}, err
		}}, nil
	}}
}

// asked runs a contender and asks it for profiles.
func asked(t *testing.T, qs ...wire.Request) []wire.Reply {
	t.Helper()
	pool := []byte(`{"id":"light.device_0001","on":true,"attributes":{"brightness":128,"temperature":23.5,"tags":["a","b","c"]}}` + "\n")
	path := filepath.Join(t.TempDir(), "pool.ndjson")
	assert.NoError(t, "write a file", os.WriteFile(path, pool, 0o600))
	sum := sha256.Sum256(pool)
	requests, ask := io.Pipe()
	hear, replies := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := contender.Serve(encoder(), requests, replies)
		requests.CloseWithError(io.ErrClosedPipe)
		replies.Close()
		done <- err
	}()
	w, r := wire.NewWriter(ask), wire.NewReader(hear)
	var out []wire.Reply
	start := []wire.Request{
		{Op: wire.OpHello, Protocol: wire.Protocol},
		{Op: wire.OpPrepare, Workload: &wire.Workload{ID: "w", Op: "marshal", Input: path, Bodies: 1, SHA256: hex.EncodeToString(sum[:])}},
	}
	for i, q := range append(append(start, qs...), wire.Request{Op: wire.OpBye}) {
		assert.NoError(t, "request", w.Request(q))
		a, err := r.Reply()
		if err != nil || a.Error != nil {
			t.Fatalf("%s: %v %v", q.Op, err, a.Error)
		}
		if i >= len(start) && q.Op != wire.OpBye {
			out = append(out, a)
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return out
}

// What contenders hand over can be read, and says where they were.
func TestRealProfiles(t *testing.T) {
	for end := time.Now().Add(20 * time.Second); ; {
		got := asked(t, wire.Request{Op: wire.OpProfile, On: "w", Profile: "cpu", MinNS: 3e8}, wire.Request{Op: wire.OpProfile, On: "w", Profile: "mem", MinNS: 1e8})
		cpu, err := Read(got[0].Profile, tare.ProfileCPU)
		assert.NoError(t, "read", err)
		mem, err := Read(got[1].Profile, tare.ProfileMem)
		assert.NoError(t, "read", err)
		if mem.Unit != "bytes" || cpu.Unit != "nanoseconds" {
			t.Fatalf("units %s and %s", cpu.Unit, mem.Unit)
		}
		seen := strings.Contains(string(cpu.Flame("cpu", got[0].Ops)), "encoding/json.Marshal") && strings.Contains(string(mem.Flame("mem", got[1].Ops)), "encoding/json.Marshal")
		if per := mem.Total / float64(got[1].Ops); seen && per > 100 && per < 10000 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("cpu: %+v; mem: %+v", cpu.Top(9), mem.Top(9))
		}
	}
}
