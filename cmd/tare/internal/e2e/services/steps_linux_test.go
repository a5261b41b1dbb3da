package services

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/sink/sinktest"
)

var (
	stepped = regexp.MustCompile(`(?m)^(\d+)\. \*\*`)
	coded   = regexp.MustCompile("`([^`]+)`")
)

// step is one of the ten steps of docs/services.md.
type step struct {
	t    *testing.T
	n    int
	text string
	code []string // what stands in it between back quotes
}

// steps are those of a page.
func steps(t *testing.T) (list []step) {
	t.Helper()
	text, err := os.ReadFile("../../../../../docs/services.md")
	must(t, err)
	_, page, ok := strings.Cut(string(text), "\n## From a Fluentd HTTP source\n")
	if !ok {
		t.Fatal("the page has no such section")
	}
	at := stepped.FindAllStringSubmatchIndex(page, -1)
	for i, m := range at {
		end := len(page)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		n, err := strconv.Atoi(page[m[2]:m[3]])
		must(t, err)
		s := step{t: t, n: n, text: page[m[0]:end]}
		for _, c := range coded.FindAllStringSubmatch(s.text, -1) {
			s.code = append(s.code, strings.Join(strings.Fields(c[1]), " "))
		}
		list = append(list, s)
	}
	return list
}

// says is the code of a step that begins so.
func (s step) says(begin string) string {
	s.t.Helper()
	i := slices.IndexFunc(s.code, func(c string) bool { return strings.HasPrefix(c, begin) })
	if i < 0 {
		s.t.Fatalf("step %d says nothing that begins with %q: %q", s.n, begin, s.code)
	}
	return s.code[i]
}

// TestTenSteps follows the ten steps from a Fluentd source as they stand on the
// page, from an empty directory. The port is a free one, HOST and INDEX are a
// far side of our own; nothing else is changed.
func TestTenSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a service")
	}
	all := steps(t)
	if len(all) != 10 {
		t.Fatalf("%d steps", len(all))
	}
	listen, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	addr := listen.Addr().String()
	must(t, listen.Close())
	here := func(code string) string { return strings.ReplaceAll(code, "127.0.0.1:9881", addr) }
	dir, env := t.TempDir(), environment(t)

	// 2: start it. 1: what it refuses.
	start := here(all[1].says("tare serve ingest"))
	s := serve(t, dir, start, env)
	if s.addr != addr {
		t.Fatalf("%s: it serves at %s", start, s.addr)
	}
	for _, tt := range []struct {
		media, body string
		status      int
	}{
		{"application/json", "[{", 400}, {"application/json", strings.Repeat(" ", 2<<20), 413}, {"text/plain", "[]", 415},
	} {
		if !strings.Contains(all[0].text, strconv.Itoa(tt.status)+" for") {
			t.Errorf("step 1 does not say what gets %d", tt.status)
		}
		r, err := http.Post("http://"+addr+"/", tt.media, strings.NewReader(tt.body))
		must(t, err)
		_ = r.Body.Close()
		if r.StatusCode != tt.status {
			t.Errorf("%.20q of %s: %s, want %d", tt.body, tt.media, r.Status, tt.status)
		}
	}

	// 3: try it.
	s.tryIt(s.tries[0])
	if out, err := s.shell(here(all[2].says("curl -s"))); err != nil || !strings.Contains(out, "POST /") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := s.shell(all[2].says("wc -l")); err != nil || !strings.HasPrefix(out, "1 ") {
		t.Errorf("%v: %s", err, out)
	}

	// 4 and 5: traffic arrives, and is counted.
	l := senders(s, 200)
	eventually(t, "traffic", func() bool { return l.accepted.Load() >= 20 })
	l.end()
	lines, err := s.shell("wc -l < events.ndjson")
	must(t, err)
	n, err := strconv.ParseFloat(strings.TrimSpace(lines), 64)
	must(t, err)
	if records := s.metric(all[4].says("ingest_records_total")); records != n || n != float64(len(l.acked)+1) {
		t.Errorf("%v records are counted, %v are in the file, %d were acknowledged", records, n, len(l.acked)+1)
	}
	if _, text := s.get(all[4].says("/metrics")); !strings.Contains(text, `"malformed"`) || !strings.Contains(text, `"too_large"`) {
		t.Errorf("the refusals are not told apart:\n%s", text)
	}

	// 6: measure it. What would be measured, and of a peer that is not there why not.
	if out, err := s.shell(all[5].says("tare run ingest") + " --list"); err != nil || !strings.Contains(out, "ingest") {
		t.Errorf("%v: %s", err, out)
	}
	s.end()

	// 7: name the far side, stop it, send, start it again.
	far := sinktest.NewServer(t, "bulk")
	sink := strings.Replace(all[6].says("--sink http+bulk://"), "http+bulk://HOST/INDEX", far.URL(), 1)
	s = serve(t, dir, "tare serve ingest "+sink+" "+all[6].says("--fsync")+" --addr "+addr, env)
	if said := s.said.String(); !strings.Contains(said, "acknowledged = on stable storage of this disk") || !strings.Contains(said, "sent on exactly once") {
		t.Errorf("it promises: %s", said)
	}
	far.Stop()
	s.tryIt(s.tries[0])
	time.Sleep(10 * time.Millisecond)
	if lag := s.metric(all[6].says("ingest_spool_lag_seconds")); lag <= 0 {
		t.Errorf("a lag of %v s, and the far side is away", lag)
	}
	far.Start()
	eventually(t, "the event arrives, and the lag falls to 0", func() bool {
		return len(far.Arrived()) == 1 && s.metric("ingest_spool_lag_seconds") == 0
	})
	s.end()

	// 8: with a token.
	s = serve(t, dir, "tare serve ingest "+sink+" --spool-bytes 64KiB --addr "+addr, append(env, all[7].says("TARE_TOKEN")+"=secret"))
	r, err := http.Post("http://"+addr+"/", "application/json", strings.NewReader("["+event("a", "")+"]"))
	must(t, err)
	_ = r.Body.Close()
	if r.StatusCode != 401 {
		t.Errorf("without the token: %s", r.Status)
	}
	s.tryIt(s.tries[0])
	far.Stop()
	full := func() bool {
		q, err := http.NewRequest("POST", "http://"+addr+"/", strings.NewReader("["+event("a", `,"page":"`+strings.Repeat("x", 2000)+`"`)+"]"))
		must(t, err)
		q.Header.Set("Authorization", "Bearer secret")
		q.Header.Set("Content-Type", "application/json")
		r, err := http.DefaultClient.Do(q)
		must(t, err)
		_ = r.Body.Close()
		return r.StatusCode == 503 && r.Header.Get(all[7].says("Retry-After")) != ""
	}
	if !strings.Contains(all[7].text, "503") {
		t.Error("step 8 does not say what gets 503")
	}
	eventually(t, "the spool is full", full)

	// 9: watch it.
	if status, _ := s.get(all[8].says("/health/ready")); status != 503 {
		t.Errorf("ready: %d, and the spool is full", status)
	}
	for _, name := range []string{"ingest_spool_lag_seconds", "ingest_dead_total", "ingest_lost_total", "ingest_spool_full_total"} {
		s.metric(all[8].says(name))
	}
	far.Start()
	eventually(t, "it is ready again", func() bool { status, _ := s.get("/health/ready"); return status == 200 })
	eventually(t, "all is sent on", func() bool { return s.metric("ingest_unsent") == 0 })

	// 10: what is put in Fluentd's place.
	for _, name := range []string{"systemd/tare-ingest.service", "Dockerfile"} {
		if _, err := os.Stat(filepath.Join("../../../../../deploy", name)); err != nil {
			t.Error(err)
		}
	}
	s.end()
	if s.cmd.ProcessState.ExitCode() != 0 {
		t.Errorf("it ends with %v: %s", s.cmd.ProcessState, s.said)
	}
}
