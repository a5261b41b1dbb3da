package codec_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/kinds/codec"
)

func TestInputIsWrittenAndCompared(t *testing.T) {
	k := codec.New()
	in, err := k.Input(tare.Workload{ID: "w", Fixture: "devices", N: 3, Op: "marshal", Pool: 5}, "", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile(in.Input)
	if err != nil {
		t.Fatal(err)
	}
	bodies := bytes.Split(bytes.TrimSuffix(src, []byte("\n")), []byte("\n"))
	if len(bodies) != 5 || in.Bodies != 5 {
		t.Fatalf("%d bodies in the file, %d announced, want 5", len(bodies), in.Bodies)
	}
	wrong, err := k.Compare(in, []wire.Answer{{Case: 0, Output: bodies[0]}, {Case: 1, Output: bodies[0]}, {Case: 2, Error: "made up"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(wrong) != 2 || !strings.HasPrefix(wrong[0], "case 1: ") || !strings.Contains(wrong[1], "made up") {
		t.Errorf("wrong = %q, want cases 1 and 2", wrong)
	}
	if _, err := k.Compare(in, []wire.Answer{{Case: 5}}); err == nil {
		t.Error("an answer to a case that does not exist was accepted")
	}
}

// Fields are compared with what encoding/json picks out, a round trip with what
// it began with.
func TestCompareByOp(t *testing.T) {
	k := codec.New()
	for _, c := range []struct {
		op, fixture, right, wrong, want string
	}{
		{"fields", "devices", `[{"state":"on","id":"light.device_0000","attributes":{"temperature":235e-1}}]`, `[{"id":"light.device_0000","state":"on","attributes":{"temperature":23}}]`, "$[0].attributes.temperature: want 23.5, got 23"},
		{"fields", "devices", `[{"id":"light.device_0000","state":"on","attributes":{"temperature":23.5}}]`, `null`, "want ["},
		{"roundtrip", "devices", "", `[]`, "want 1 items, got 0"},
		{"roundtrip", "events", "", `[{"id":1}]`, "$[0].id"},
	} {
		in, err := k.Input(tare.Workload{ID: "w", Fixture: c.fixture, N: 1, Op: c.op, Pool: 1}, "", t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if c.right == "" {
			src, err := os.ReadFile(in.Input)
			if err != nil {
				t.Fatal(err)
			}
			c.right = string(src)
		}
		wrong, err := k.Compare(in, []wire.Answer{{Output: []byte(c.right), Size: 9}, {Output: []byte(c.wrong)}})
		if err != nil || len(wrong) != 1 || !strings.Contains(wrong[0], c.want) {
			t.Errorf("%s of %s: wrong = %q, %v, want %q", c.op, c.fixture, wrong, err, c.want)
		}
	}
}

func TestAUsersPayload(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine.json"), []byte("{\n \"id\": 1234567890123456789,\n \"a\": 1.50\n}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	k := codec.New()
	in, err := k.Input(tare.Workload{ID: "w", File: "mine.json", Op: "marshal"}, dir, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if src, _ := os.ReadFile(in.Input); string(src) != "{\"a\":1.5,\"id\":1234567890123456789}\n" {
		t.Errorf("input is %q, want one compact line", src)
	}
}

// What a pool is made of is counted in the pool itself.
func TestDescribe(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine.json"), []byte("[{\"id\": 1}, {\"id\": 1}]"), 0o644); err != nil {
		t.Fatal(err)
	}
	k := codec.New()
	for _, c := range []struct {
		workload       tare.Workload
		bytes          int64
		keys, distinct int
	}{
		{tare.Workload{ID: "w", Fixture: "devices", N: 50, Op: "marshal", Pool: 3}, 3 * 11598, 50, 50},
		{tare.Workload{ID: "w", Fixture: "devices", Op: "marshal", Pool: 1}, 226, 1, 1},
		{tare.Workload{ID: "w", Fixture: "events", N: 10, Op: "unmarshal", Pool: 2}, 2 * 8341, 10, 10},
		{tare.Workload{ID: "w", File: "mine.json", Op: "marshal"}, 19, 0, 0},
	} {
		in, err := k.Input(c.workload, dir, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		w, err := k.Describe(c.workload, in)
		if err != nil {
			t.Fatal(err)
		}
		if w.Bytes != c.bytes || w.Keys != c.keys || w.DistinctKeys != c.distinct || w.ID != c.workload.ID || w.N != c.workload.N {
			t.Errorf("%+v is described as %+v", c, w)
		}
	}
}

func TestBadInputNamesThePlace(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bad.json"), []byte("{\n \"a\": ]\n}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "good.json"), []byte("[]"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		w    tare.Workload
		want string
	}{
		{tare.Workload{ID: "w", File: "bad.json", Op: "marshal"}, "bad.json:2:7: not JSON"},
		{tare.Workload{ID: "w", File: "none.json", Op: "marshal"}, "none.json"},
		{tare.Workload{ID: "w", Fixture: "devices", Op: "sing"}, `unknown op "sing"; a codec can marshal, stream, unmarshal, any, fields, roundtrip`},
		{tare.Workload{ID: "w", File: "good.json", Op: "fields"}, "op fields picks fields out of a fixture"},
		{tare.Workload{ID: "w", Fixture: "planets", Op: "marshal"}, "planets"},
	} {
		_, err := codec.New().Input(c.w, dir, t.TempDir())
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v, want one line with %q", c.w, err, c.want)
		}
	}
}
