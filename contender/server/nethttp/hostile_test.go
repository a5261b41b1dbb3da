package nethttp_test

import (
	"bytes"
	"compress/gzip"
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/ingest"
)

// limited is a body that does not say how long it is.
func limited(n int64) io.Reader { return io.LimitReader(zeros{}, n) }

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// packed is text in gzip, so many times over, each a member of its own.
func packed(t *testing.T, text []byte, times int) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.Repeat(b.Bytes(), times)
}

// filled is so many times part, up to the longest body there may be.
func filled(before, part, after string) string {
	n := (ingest.DefaultMaxBody - len(before) - len(after)) / len(part)
	return before + strings.Repeat(part, n) + after
}

const (
	mib  = 1 << 20
	deep = 100_000
)

// hostile are bodies that must be refused.
func hostile(t *testing.T) map[string]struct {
	body   []byte
	packed bool
	status int
	code   string
} {
	type body = struct {
		body   []byte
		packed bool
		status int
		code   string
	}
	text := func(code, s string) body { return body{[]byte(s), false, 400, code} }
	within := func(s string) string { return "[" + strings.Replace(record("a"), `"id"`, `"x":`+s+`,"id"`, 1) + "]" }
	nines := strings.Repeat("9", 1000)
	all := map[string]body{
		"half":             text("malformed", "["+record("a")),
		"two":              text("malformed", "["+record("a")+"]["+record("b")+"]"),
		"trailing":         text("malformed", "["+record("a")+"]x"),
		"comma":            text("malformed", "["+record("a")+",]"),
		"raw line end":     text("malformed", "["+record("a")[:7]+"\n"+record("a")[7:]+"]"),
		"one quote":        text("malformed", `"`),
		"huge number":      text("malformed", "["+strings.Replace(record("a"), ":1}", ":"+nines+"}", 1)+"]"),
		"fraction":         text("malformed", "["+strings.Replace(record("a"), ":1}", ":1.5}", 1)+"]"),
		"deep arrays":      text("malformed", strings.Repeat("[", deep)+strings.Repeat("]", deep)),
		"deep, open":       text("malformed", strings.Repeat("[", mib)),
		"deep objects":     text("malformed", strings.Repeat(`{"a":`, deep)+"1"+strings.Repeat("}", deep)),
		"deep in a record": text("malformed", within(strings.Repeat("[", deep)+strings.Repeat("]", deep))),
		"eleven":           text("batch", "["+strings.TrimSuffix(strings.Repeat(record("a")+",", 11), ",")+"]"),
		"many empty":       text("batch", filled("[{}", ",{}", "]")),
		"many numbers":     text("batch", filled("[0", ",0", "]")),
		"many nulls":       text("batch", filled("[null", ",null", "]")),
		"many keys":        text("malformed", filled("{", `"a":1,`, `"b":2}`)),
		"long string":      text("malformed", filled(`"`, "x", `"`)),
		"long id":          text("record", "["+record(strings.Repeat("x", mib-1000))+"]"),
		"spaces":           text("malformed", filled("", " ", "")),
		"zeros":            text("malformed", filled("", "\x00", "")),
		"invalid UTF-8":    text("malformed", "\xff\xfe[\x80]"),
		"not gzip":         {[]byte("[]"), true, 400, "malformed"},
		"half a gzip":      {packed(t, []byte("["+record("a")+"]"), 1)[:30], true, 400, "malformed"},
		"bomb":             {packed(t, make([]byte, 8*mib), 128), true, 413, "too_large"},
		"bomb of JSON":     {packed(t, []byte(filled("[", "[],", "[]")+strings.Repeat(",[]", mib)), 1), true, 413, "too_large"},
		"small bomb":       {packed(t, []byte(filled("[{}", ",{}", "]")), 1), true, 400, "batch"},
		"1 byte too much":  {bytes.Repeat([]byte(" "), mib+1), false, 413, "too_large"},
		"10 MB":            {bytes.Repeat([]byte("["), 10_000_000), false, 413, "too_large"},
	}
	if n := len(all["bomb"].body); n > mib || n < mib/2 {
		t.Fatalf("the bomb has %d bytes", n)
	}
	return all
}

func TestHostileBodies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.ndjson")
	s := start(t, "-app", "ingest", "-metadata", "typed", "-sink", "file:"+path)
	c := client(t)
	for name, h := range hostile(t) {
		for _, length := range []int64{int64(len(h.body)), -1} {
			var header []string
			if h.packed {
				header = []string{"Content-Encoding", "gzip"}
			}
			r, err := s.send(c, "POST", "/", bytes.NewReader(h.body), length, header...)
			if err != nil || r.status != h.status || r.code() != h.code || r.header.Get("Content-Type") != "application/json" {
				t.Errorf("%s, length %d: %d %s, %v; want %d %s", name, length, r.status, r.body, err, h.status, h.code)
			}
		}
	}
	if r, err := s.send(c, "POST", "/", limited(1<<40), -1); err == nil && r.status != 413 {
		t.Errorf("without an end: %d %s", r.status, r.body)
	}
	for _, body := range []string{ // as documented: the last one counts
		strings.Replace(record("first"), `"timestamp"`, `"id":"last","timestamp"`, 1),
		strings.Replace(record("escaped \\u0001"), `"u"`, `"\u2028\ud800 <&>\n"`, 1),
		strings.Replace(record("long"), `"u"`, `"`+strings.Repeat("x", mib-2000)+strings.Repeat(",", 900)+`"`, 1),
	} {
		if r := s.post(c, "["+body+"]"); r.status != 200 {
			t.Errorf("%.100s: %d %s", body, r.status, r.body)
		}
	}
	if r := s.post(c, "["+record("b")+"]"); r.status != 200 {
		t.Errorf("afterwards: %d %s", r.status, r.body)
	}
	s.end()
	text, err := os.ReadFile(path)
	if err != nil || strings.Count(string(text), "\n") != 4 || !strings.HasPrefix(string(text), `{"id":"last",`) {
		t.Errorf("%v: kept is %.500s", err, text)
	}
}

// TestGobTells: what a body in gob says about its length is looked at before
// there is room made for it.
func TestGobTells(t *testing.T) {
	s := start(t, "-app", "ingest")
	c := client(t)
	written := func(n int) string {
		list := make([]ingest.Record, n)
		for i := range list {
			list[i] = ingest.Record{ID: "a", Timestamp: ingest.Time{Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}, Metadata: ingest.Metadata{Name: "u"}}
		}
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(list); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	var other bytes.Buffer
	if err := gob.NewEncoder(&other).Encode(map[string]int{"a": 1}); err != nil {
		t.Fatal(err)
	}
	ten := written(10)
	for _, tt := range []struct {
		body   string
		status int
		code   string
	}{
		{ten, 200, ""}, {written(1), 200, ""}, {written(0), 400, "batch"}, {written(11), 400, "batch"}, {written(9000), 400, "batch"},
		{ten[:len(ten)/2], 400, "malformed"}, {ten[:len(ten)-1], 400, "malformed"}, {"", 400, "malformed"}, {"\x00", 400, "malformed"},
		{"[]", 400, "malformed"}, {other.String(), 400, "malformed"}, {"\xf8\xff\xff\xff\xff\xff\xff\xff\xff", 400, "malformed"},
		{"\x05\x02\x00\xfd\xff\xff", 400, "malformed"}, {"\x06\x02\x00\xfd\xff\xff\xff", 400, "batch"}, {strings.Repeat("\x7f", mib), 400, "malformed"},
	} {
		if r := s.post(c, tt.body, "Content-Type", "application/x-gob"); r.status != tt.status || r.code() != tt.code {
			t.Errorf("%.40q: %d %s, want %d %s", tt.body, r.status, r.body, tt.status, tt.code)
		}
	}
}

// TestMemoryIsBounded: fifty bodies at once, each as bad as can be, take no
// more than eight times what fifty bodies may be long, and the program itself.
func TestMemoryIsBounded(t *testing.T) {
	atOnce := 50
	bound := int64(32+8*atOnce) * mib
	if raced {
		atOnce = 10 // nobody looks at the bound
	}
	s := start(t, "-app", "ingest")
	c := client(t)
	bodies := hostile(t)
	bodies["gob"] = struct {
		body   []byte
		packed bool
		status int
		code   string
	}{[]byte(strings.Repeat("\x7f", mib)), false, 400, "malformed"}
	for _, worst := range []bool{true, false} {
		for name, h := range bodies {
			if worst != slices.Contains([]string{"bomb", "small bomb", "many empty", "many nulls", "deep, open", "long string", "10 MB", "gob"}, name) || !worst && !soak() {
				continue
			}
			var header []string
			if h.packed {
				header = []string{"Content-Encoding", "gzip"}
			}
			var all sync.WaitGroup
			for i := range atOnce {
				all.Go(func() {
					length := int64(len(h.body))
					if i%2 == 1 {
						length = -1
					}
					if r, err := s.send(c, "POST", "/", bytes.NewReader(h.body), length, header...); err == nil && r.status != h.status {
						t.Errorf("%s: %d %s", name, r.status, r.body)
					}
				})
			}
			all.Wait()
		}
	}
	peak, ok := s.peak()
	if !ok || raced {
		t.Skip("memory is not counted here")
	}
	t.Logf("the service had %d MiB at most", peak/mib)
	if peak > bound {
		t.Errorf("the service had %d MiB, which is more than %d", peak/mib, bound/mib)
	}
}

// peak is the most memory that the process has had, in bytes.
func (s *service) peak() (int64, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, false
	}
	m := regexp.MustCompile(`VmHWM:\s*(\d+) kB`).FindSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(string(m[1]), 10, 64)
	return n << 10, err == nil
}
