package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/ingest/spool"
)

func newService(t *testing.T, c Config) *Service {
	t.Helper()
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// wantRefusal holds an error against a status and a code; 0: there is none.
func wantRefusal(t *testing.T, what string, err error, status int, code string) {
	t.Helper()
	var r *Refusal
	switch {
	case status == 0 && err == nil:
	case status == 0 || !errors.As(err, &r) || r.Status != status || r.Code != code:
		t.Errorf("%s: %v, want %d %s", what, err, status, code)
	case r.Message == "" || strings.ContainsAny(r.Message, "\r\n"):
		t.Errorf("%s: %q is no line", what, r.Message)
	}
}

func at(i int) time.Time {
	return time.Date(2025, 3, 1, 12, 0, i, 250e6, time.UTC)
}

func list(n int) []Record {
	out := make([]Record, n)
	for i := range out {
		out[i] = Record{ID: fmt.Sprintf("id-%d", i), Timestamp: Time{at(i)}, Metadata: Metadata{Name: fmt.Sprintf("u<%d>", i), Latitude: 0.5, About: strings.Repeat("a", 99)}}
	}
	return out
}

func with(n int, change func(*Record)) []Record {
	out := list(n)
	change(&out[n-1])
	return out
}

func TestAccept(t *testing.T) {
	for _, sink := range []string{"", "null", "file:" + filepath.Join(t.TempDir(), "events.ndjson")} {
		s := newService(t, Config{Sink: sink})
		records := list(3)
		var want Receipt
		for i := range records {
			text, err := json.Marshal(records[i].Metadata)
			if err != nil {
				t.Fatal(err)
			}
			want.Accepted++
			want.Bytes += int64(len(text))
		}
		got, err := s.Accept(context.Background(), Head{}, Records(records, json.Marshal))
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v, want %+v", sink, got, err, want)
		}
		if _, err := s.Accept(context.Background(), Head{}, Records(list(10), json.Marshal)); err != nil {
			t.Errorf("%q: as many as may be: %v", sink, err)
		}
		for _, c := range []struct {
			name    string
			records []Record
			code    string
			says    string
		}{
			{"none", nil, "batch", "one record at least"},
			{"too many", list(11), "batch", "at most 10 records, this one has 11"},
			{"no id", with(2, func(r *Record) { r.ID = "" }), "record", "record 2 of 2 has no id"},
			{"a long id", with(3, func(r *Record) { r.ID = strings.Repeat("x", maxID+1) }), "record", "record 3 of 3 has an id of 1025 bytes; it has at most 1024"},
			{"no timestamp", with(4, func(r *Record) { r.Timestamp = Time{} }), "record", "record 4 of 4 has no timestamp"},
			{"after all time", with(1, func(r *Record) { r.Timestamp = Time{time.Unix(1e15, 0)} }), "record", "record 1 of 1"},
			{"before all time", with(1, func(r *Record) { r.Timestamp = Time{time.Unix(-1e15, 0)} }), "record", "record 1 of 1"},
			{"not a number", with(5, func(r *Record) { r.Metadata.Latitude = math.NaN() }), "record", "record 5"},
		} {
			got, err := s.Accept(context.Background(), Head{}, Records(c.records, json.Marshal))
			wantRefusal(t, c.name, err, 400, c.code)
			if got != (Receipt{}) || err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%q, %s: %+v, %v", sink, c.name, got, err)
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err = s.Accept(ctx, Head{}, Records(list(1), json.Marshal))
		wantRefusal(t, "ended context", err, 503, "sink")
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%q: the cause is lost: %v", sink, err)
		}
		if got := s.Delivered(); got != 13 {
			t.Errorf("%q: %d delivered", sink, got)
		}
	}
}

func TestLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.ndjson")
	s := newService(t, Config{Sink: "file:" + path, Fsync: true})
	records := list(5)
	records[1].ID = "q\"\\\n\u2028é\xff"
	records[2].Timestamp = Time{at(2).In(time.FixedZone("", 2*3600))}
	records[3].Timestamp = Time{time.UnixMilli(253402300799999).In(time.FixedZone("", 99*3600))} // RFC 3339 has no such offset, and no such year there
	if _, err := s.Accept(context.Background(), Head{}, Records(records, json.Marshal)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got []Record
	for line := range bytes.Lines(text) {
		var r Record
		if err := json.Unmarshal(line, &r); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		got = append(got, r)
	}
	records[1].ID = "q\"\\\n\u2028é\ufffd"
	for i := range got {
		if !got[i].Timestamp.Equal(records[i].Timestamp.Time) {
			t.Errorf("timestamp %v, want %v", got[i].Timestamp, records[i].Timestamp)
		}
		got[i].Timestamp = records[i].Timestamp
	}
	if fmt.Sprint(got) != fmt.Sprint(records) {
		t.Errorf("kept %+v\nwant %+v", got, records)
	}
	if want := `{"id":"id-0","timestamp":"2025-03-01T12:00:00.25Z","metadata":{"index":0,"guid":"","isActive":false,"balance":"","picture":"","age":0,"eyeColor":"","name":"u\u003c0\u003e",`; !bytes.HasPrefix(text, []byte(want)) {
		t.Errorf("the first line begins with %.100s", text)
	}
}

// lineEnds is a batch from an encoder that writes them.
type lineEnds struct{ Batch }

func (lineEnds) Metadata(int) ([]byte, error) { return []byte("{\n}"), nil }

func TestEncoderThatWritesLineEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.ndjson")
	s := newService(t, Config{Sink: "file:" + path})
	_, err := s.Accept(context.Background(), Head{}, lineEnds{Records(list(2), nil)})
	if err == nil || s.RefusalOf(err).Status != 500 {
		t.Error(err)
	}
	if text, err := os.ReadFile(path); err != nil || len(text) > 0 {
		t.Errorf("%q was kept, %v", text, err)
	}
}

// broken is a sink that takes nothing, or after the context has ended.
type broken struct{ err error }

func (b broken) Keep(context.Context, []byte, int) error { return b.err }
func (broken) Close() error                              { return nil }

func TestSinkThatFails(t *testing.T) {
	s := newService(t, Config{})
	cause := errors.New("no space left")
	s.sink = broken{cause}
	_, err := s.Accept(context.Background(), Head{}, Records(list(2), json.Marshal))
	wantRefusal(t, "broken sink", err, 503, "sink")
	if !errors.Is(err, cause) {
		t.Errorf("the cause is lost: %v", err)
	}
	if r := s.RefusalOf(err); strings.Contains(r.Message, "space") {
		t.Errorf("the client is told %q", r.Message)
	}
	if s.Delivered() != 0 {
		t.Error("delivered")
	}
	if want := "ingest_sink_errors_total 1\n"; !strings.Contains(string(s.Metrics()), want) {
		t.Errorf("no %q in %s", want, s.Metrics())
	}
}

// A batch that is in the spool and not sent on in time is kept: the client is not to
// send it again, and the sink has not failed.
func TestBatchThatIsNotSentOnInTime(t *testing.T) {
	dir := t.TempDir()
	s := newService(t, Config{Sink: "spool:" + dir, Wait: time.Millisecond, Now: time.Now})
	readers, err := spool.OpenReaders(dir, []string{"a"}, false, func(spool.Damage) {})
	if err != nil {
		t.Fatal(err)
	}
	defer readers.Close()
	_, err = s.Accept(context.Background(), Head{}, Records(list(2), json.Marshal))
	wantRefusal(t, "not sent on", err, 202, "unsent")
	if !errors.Is(err, spool.ErrWait) {
		t.Errorf("the cause is lost: %v", err)
	}
	var b spool.Batch
	if err := readers.All()[0].Take(&b, 10, 1<<20); err != nil || b.Len() != 2 || s.Delivered() != 2 {
		t.Errorf("%d events are kept, and %d counted: %v", b.Len(), s.Delivered(), err)
	}
	if err := s.Ready(context.Background()); err != nil {
		t.Error(err)
	}
	if want := "ingest_sink_errors_total 0\n"; !strings.Contains(string(s.Metrics()), want) {
		t.Errorf("no %q in %s", want, s.Metrics())
	}
}

// A service whose sink failed once is ready again, though the clock was set back.
func TestReadyAndSetBack(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := newService(t, Config{Now: func() time.Time { return now }})
	s.sink = broken{errors.New("no space left")}
	if _, err := s.Accept(context.Background(), Head{}, Records(list(2), json.Marshal)); err == nil {
		t.Fatal("accepted")
	}
	for _, c := range []struct {
		by    time.Duration
		ready bool
	}{{0, false}, {4 * time.Second, false}, {time.Second, true}, {-24 * time.Hour, true}, {48 * time.Hour, true}} {
		if now = now.Add(c.by); (s.Ready(context.Background()) == nil) != c.ready {
			t.Errorf("at %v: ready %v, want %v", now, !c.ready, c.ready)
		}
	}
}

func TestAcceptAtOnce(t *testing.T) {
	const callers, batches = 8, 50
	dir := t.TempDir()
	s := newService(t, Config{Sink: "file:" + filepath.Join(dir, "e"), Rotate: 20_000, Now: func() time.Time { return at(0) }})
	var wg sync.WaitGroup
	for c := range callers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range batches {
				records := list(1 + i%3)
				for j := range records {
					records[j].ID = fmt.Sprintf("%d-%d-%d", c, i, j)
				}
				if _, err := s.Accept(context.Background(), Head{}, Records(records, json.Marshal)); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	names, err := filepath.Glob(filepath.Join(dir, "e*"))
	if err != nil || len(names) < 4 {
		t.Errorf("%q, %v: nothing was rotated", names, err)
	}
	seen := map[string]bool{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			var r Record
			if err := json.Unmarshal(line, &r); err != nil || seen[r.ID] {
				t.Errorf("%s: %q: %v", name, line, err)
			}
			seen[r.ID] = true
		}
	}
	if int64(len(seen)) != s.Delivered() || s.Delivered() == 0 {
		t.Errorf("%d records are there, %d were delivered", len(seen), s.Delivered())
	}
}

func TestNew(t *testing.T) {
	for _, c := range []Config{
		{Limit: -1}, {MaxBody: -1}, {Rotate: -1}, {Sink: "file:"}, {Sink: "nats://x"}, {Sink: "file:" + filepath.Join(t.TempDir(), "none", "e")},
	} {
		if s, err := New(c); err == nil {
			t.Errorf("%+v is taken: %v", c, s.Close())
		}
	}
	s := newService(t, Config{})
	if s.MaxBody() != DefaultMaxBody {
		t.Errorf("%d bytes", s.MaxBody())
	}
	path := filepath.Join(t.TempDir(), "e")
	if err := os.WriteFile(path, []byte("{}\n{\"id"), 0o644); err != nil {
		t.Fatal(err)
	}
	s = newService(t, Config{Sink: "file:" + path})
	if want := "ingest_sink_cut_bytes 4\n"; !strings.Contains(string(s.Metrics()), want) {
		t.Errorf("no %q in %s", want, s.Metrics())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	_, err := s.Accept(context.Background(), Head{}, Records(list(1), json.Marshal))
	wantRefusal(t, "after Close", err, 503, "sink")
}
