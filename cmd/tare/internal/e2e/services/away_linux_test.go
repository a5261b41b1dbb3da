package services

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/sink/sinktest"
)

// inSpool is how many bytes a directory's files have.
func inSpool(t *testing.T, dir string) (n int64) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	must(t, err)
	for _, path := range files {
		if info, err := os.Stat(path); err == nil { // or it was sent on meanwhile
			n += info.Size()
		}
	}
	return n
}

// TestFarSideAway: while the far side is away the spool grows to its bound and
// no further, senders get 503 with Retry-After, and memory stays flat. When it is
// back all that was acknowledged arrives.
func TestFarSideAway(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a service")
	}
	bound, text, rate, away := int64(512<<10), "512KiB", 300, 2*time.Second
	if soak() {
		bound, text, rate, away = 64<<20, "64MiB", 1500, time.Minute
	}
	far := sinktest.NewServer(t, "ndjson")
	dir := t.TempDir()
	s := serve(t, dir, "tare serve ingest --addr 127.0.0.1:0 --spool-bytes "+text+" --sink "+far.URL(), environment(t, "GOMEMLIMIT=200MiB"))
	first := s.used() // tare may have built the service
	l := senders(s, rate)
	eventually(t, "events arrive", func() bool { return len(far.Arrived()) > 100 })
	far.Stop()
	began := time.Now()
	eventually(t, "the spool is full", func() bool { return l.full.Load() > 20 })
	took := time.Since(began)
	atFull := s.used()
	if status, _ := s.get("/health/ready"); status != 503 {
		t.Errorf("/health/ready: %d, and the spool is full", status)
	}
	time.Sleep(away)
	after := s.used()
	size := inSpool(t, filepath.Join(dir, "tare-spool"))
	if size > bound+bound/10 || size < bound/2 {
		t.Errorf("the spool has %d bytes, its bound is %d", size, bound)
	}
	far.Start()
	back, accepted := time.Now(), l.accepted.Load()
	eventually(t, "batches are accepted again", func() bool { return l.accepted.Load() > accepted+100 })
	l.end()
	eventually(t, "all is sent on", func() bool { return s.metric("ingest_unsent") == 0 })
	caughtUp := time.Since(back)
	duplicates := l.check(far.Arrived())
	end := s.used()
	t.Logf("full %v after the far side had gone, and away for %v more: %d batches got 503; the spool has %d of %d bytes; "+
		"at most resident when it was full, %v later and at the end: service %d, %d, %d MB, tare %d, %d, %d MB; %d events acknowledged, all of which arrived %v after it was back, %d of them twice",
		took.Round(time.Second), away, l.full.Load(), size, bound, away, atFull.service/1e6, after.service/1e6, end.service/1e6,
		atFull.tare/1e6, after.tare/1e6, end.tare/1e6, len(l.acked), caughtUp.Round(time.Second), duplicates)
	if duplicates > 1000 {
		t.Errorf("%d duplicates, which is more than a batch", duplicates)
	}
	if end.service > mostMemory/2 || end.tare > max(mostMemory/2, first.tare+mostMemory/8) {
		t.Errorf("the service has %d MB, tare %d MB, and %d MB at first", end.service/1e6, end.tare/1e6, first.tare/1e6)
	}
}

// TestWrongDestination: at the address there is a server of TLS, which answers plain HTTP
// with 400. The service says within ten seconds that it is not ready, no event is dead,
// and all arrive once the right server is there.
func TestWrongDestination(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a service")
	}
	wrong := 5 * time.Second
	if soak() {
		wrong = 10 * time.Minute
	}
	far := sinktest.NewServer(t, "ndjson")
	url := far.URL()
	far.Stop()
	listen, err := net.Listen("tcp", far.Addr())
	must(t, err)
	tls := &httptest.Server{Listener: listen, Config: &http.Server{Handler: http.NotFoundHandler(), ErrorLog: log.New(io.Discard, "", 0)}}
	tls.StartTLS()
	defer tls.Close()
	s := serve(t, t.TempDir(), "tare serve ingest --addr 127.0.0.1:0 --sink "+url, environment(t))
	l := senders(s, 30)
	began := time.Now()
	eventually(t, "it is not ready", func() bool { status, _ := s.get("/health/ready"); return status == 503 })
	unready := time.Since(began)
	if unready > 10*time.Second {
		t.Errorf("it says so after %v", unready)
	}
	if _, why := s.get("/health/ready"); !strings.Contains(why, "a destination takes no events") {
		t.Errorf("it says: %s", why)
	}
	time.Sleep(wrong)
	l.end()
	if dead, sent := s.metric("ingest_dead_total"), s.metric("ingest_sent_total"); dead != 0 || sent != 0 {
		t.Errorf("%v events are dead and %v sent", dead, sent)
	}
	tls.Close()
	far.Start()
	eventually(t, "all is sent on", func() bool { return s.metric("ingest_unsent") == 0 })
	eventually(t, "it is ready", func() bool { status, _ := s.get("/health/ready"); return status == 200 })
	t.Logf("not ready after %v; wrong for %v: %d events acknowledged, all of which arrived, %d of them twice, %v dead",
		unready.Round(time.Millisecond), wrong, len(l.acked), l.check(far.Arrived()), s.metric("ingest_dead_total"))
	if dead := s.metric("ingest_dead_total"); dead != 0 {
		t.Errorf("%v events are dead", dead)
	}
}

// TestFullDisk: where the spool's disk takes no more, batches get 503, the log
// says why, and all that was acknowledged arrives.
func TestFullDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a service")
	}
	far := sinktest.NewServer(t, "ndjson")
	dir, env := t.TempDir(), environment(t)
	command := "tare serve ingest --addr 127.0.0.1:0 --sink " + far.URL()
	serve(t, dir, command, env).end() // it is built
	far.Stop()
	// No file may have more than 256 KiB: the next byte is refused, as by a full disk.
	s := script(t, dir, "ulimit -S -f 512; exec "+command, env)
	l := senders(s, 300)
	eventually(t, "the disk is full", func() bool { return l.full.Load() > 20 })
	l.end()
	if said := s.said.String(); !strings.Contains(said, "the sink fails, and batches are answered with 503") || !strings.Contains(said, "file too large") {
		t.Errorf("it says: %s", said)
	}
	s.end()
	far.Start()
	again := serve(t, dir, command, env)
	eventually(t, "all is sent on", func() bool { return again.metric("ingest_unsent") == 0 })
	t.Logf("%d events acknowledged before and between, %d batches refused, %d duplicates", len(l.acked), l.full.Load(), l.check(far.Arrived()))
}

// TestSpoolReadError: while a segment of the spool cannot be read nothing is sent
// on, and the log says why, once. When it can be read again, all that was
// acknowledged arrives.
func TestSpoolReadError(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a service")
	}
	far := sinktest.NewServer(t, "ndjson")
	dir := t.TempDir()
	s := serve(t, dir, "tare serve ingest --addr 127.0.0.1:0 --spool-bytes 512KiB --sink "+far.URL(), environment(t))
	far.Stop()
	l := senders(s, 300)
	eventually(t, "the spool is full", func() bool { return l.full.Load() > 20 })
	l.end()
	segments, err := filepath.Glob(filepath.Join(dir, "tare-spool", "*.segment"))
	must(t, err)
	if len(segments) < 4 {
		t.Fatalf("the spool has %d segments", len(segments))
	}
	// A directory can be opened, and every read of it fails with EISDIR. A link to
	// it takes the segment's place, and the segment the link's, without a moment in
	// which there is neither: a segment that is gone is reported as lost.
	unread, aside, link := segments[2], filepath.Join(dir, "aside"), filepath.Join(dir, "link")
	must(t, os.Link(unread, aside))
	must(t, os.Symlink(t.TempDir(), link))
	must(t, os.Rename(link, unread))
	far.Start()
	eventually(t, "the read error is logged", func() bool { return strings.Contains(s.said.String(), `at="read the spool"`) })
	time.Sleep(2 * time.Second)
	if said := s.said.String(); strings.Count(said, `at="read the spool"`) != 1 || !strings.Contains(said, "is a directory") {
		t.Errorf("it says: %s", said)
	}
	if lost, left := s.metric("ingest_lost_total"), s.metric("ingest_unsent"); lost != 0 || left == 0 {
		t.Errorf("%v events lost and %v unsent, and a segment cannot be read", lost, left)
	}
	before := len(far.Arrived())
	must(t, os.Rename(aside, unread))
	eventually(t, "all is sent on", func() bool { return s.metric("ingest_unsent") == 0 })
	if lost := s.metric("ingest_lost_total"); lost != 0 {
		t.Errorf("%v events are reported as lost: %s", lost, s.said.String())
	}
	if said := s.said.String(); !strings.Contains(said, `msg="it works again"`) {
		t.Errorf("it does not say that it works again: %s", said)
	}
	t.Logf("%d events acknowledged; %d had arrived when a segment could not be read, all of them in the end, %d twice", len(l.acked), before, l.check(far.Arrived()))
}
