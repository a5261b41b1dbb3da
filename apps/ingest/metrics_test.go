package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/ingest/spool"
)

func TestMetrics(t *testing.T) {
	s := newService(t, Config{})
	if _, err := s.Accept(context.Background(), Head{}, Records(list(3), json.Marshal)); err != nil {
		t.Fatal(err)
	}
	s.RefusalOf(NotFound())
	s.RefusalOf(NotFound())
	s.RefusalOf(&Refusal{Status: 418, Code: "teapot"})
	s.RefusalOf(context.Canceled)
	text := string(s.Metrics())
	for _, want := range []string{
		"ingest_batches_total 1\n", "ingest_records_total 3\n", "ingest_sink_errors_total 0\n", "ingest_refusals_total{error=\"not_found\"} 2\n",
		"ingest_refusals_total{error=\"other\"} 1\n", "ingest_refusals_total{error=\"internal\"} 1\n", "ingest_refusals_total{error=\"malformed\"} 0\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, codes := range refused(t) {
		for _, code := range codes {
			if !strings.Contains(text, fmt.Sprintf("{error=%q}", code)) {
				t.Errorf("no %s in\n%s", code, text)
			}
		}
	}
	typed(t, text)
}

// typed wants each metric to have a type.
func typed(t *testing.T, text string) {
	t.Helper()
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		if name, typed := strings.CutPrefix(line, "# TYPE "); typed {
			name, _, _ = strings.Cut(name, " ")
			seen[name] = true
		} else if !strings.HasPrefix(line, "#") {
			name, _, _ := strings.Cut(strings.Fields(line)[0], "{")
			if !seen[name] {
				t.Errorf("%q has no type", line)
			}
		}
	}
}

// A spool has metrics of its own, by sink, and a full one refuses for now while
// a batch that can never be taken is refused for good. The log is told once.
func TestSpool(t *testing.T) {
	dir := t.TempDir()
	var log bytes.Buffer
	c := Config{Sink: "spool:" + dir, SpoolBytes: spool.LeastBytes, Limit: 100, Now: time.Now, Log: slog.New(slog.NewTextHandler(&log, nil))}
	if _, err := New(Config{Sink: c.Sink}); err == nil {
		t.Error("a spool without a clock")
	}
	s := newService(t, c)
	readers, err := spool.OpenReaders(dir, []string{"a"}, false, func(d spool.Damage) { t.Error(d) })
	if err != nil {
		t.Fatal(err)
	}
	defer readers.Close()
	accept := func(n int) error {
		_, err := s.Accept(context.Background(), Head{}, Records(list(n), json.Marshal))
		return err
	}
	taken := 0
	for err = nil; err == nil; taken++ {
		err = accept(10)
	}
	wantRefusal(t, "full", err, 503, "sink")
	wantRefusal(t, "still full", accept(10), 503, "sink")
	wantRefusal(t, "too large", accept(100), 413, "too_large")
	r := readers.All()[0]
	for {
		var b spool.Batch
		if err := r.Take(&b, 10, 1<<20); err != nil || b.Len() == 0 {
			break
		}
		if err := errors.Join(r.Done(&b, 1), readers.Free(r)); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(50 * time.Millisecond) // the service does not look more often
	if err := accept(10); err != nil {
		t.Error(err)
	}
	text := string(s.Metrics())
	typed(t, text)
	for _, want := range []string{
		"ingest_spool_full_total 2\n", "ingest_spool_limit_bytes 65536\n", "ingest_unsent{sink=\"a\"} 10\n",
		fmt.Sprintf("ingest_sent_total{sink=\"a\"} %d\n", 9*(taken-1)), fmt.Sprintf("ingest_dead_total{sink=\"a\"} %d\n", taken-1),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if lines := strings.Split(strings.TrimSpace(log.String()), "\n"); len(lines) != 2 || !strings.Contains(lines[0], "cause=\"spool: the spool is full") || !strings.Contains(lines[1], "failures=2") {
		t.Errorf("logged %q", log.String())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if again := newService(t, c); again.Unsent() != 10 {
		t.Errorf("%d events are found", again.Unsent())
	}
}
