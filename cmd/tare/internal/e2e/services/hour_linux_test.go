package services

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/sink/sinktest"
)

// running is what the processes of a service hold at one moment.
type running struct {
	bytes       int64 // resident
	descriptors int
	threads     int
}

var nowResident, nowThreads = regexp.MustCompile(`VmRSS:\s*(\d+) kB`), regexp.MustCompile(`Threads:\s*(\d+)`)

// runs looks at all processes of a service.
func (s *service) runs() (sum running) {
	number := func(pattern *regexp.Regexp, text []byte) int64 {
		m := pattern.FindSubmatch(text)
		if m == nil {
			return 0
		}
		n, _ := strconv.ParseInt(string(m[1]), 10, 64)
		return n
	}
	s.walk(s.cmd.Process.Pid, func(pid int) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			return // it has ended
		}
		open, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
		sum.bytes += number(nowResident, text) << 10
		sum.descriptors += len(open)
		sum.threads += int(number(nowThreads, text))
	})
	return sum
}

// TestHour runs services for an hour (five seconds where tests are not run whole)
// under traffic that they take, and bodies and connections that they do not, at
// once: after an hour they hold as much in the last quarter as in the second, and all
// events that were acknowledged arrive.
func TestHour(t *testing.T) {
	if testing.Short() {
		t.Skip("builds services")
	}
	span := 5 * time.Second
	if soak() {
		span = time.Hour
	}
	if text := os.Getenv("TARE_SOAK_FOR"); text != "" {
		var err error
		span, err = time.ParseDuration(text)
		must(t, err)
	}
	env := environment(t, "GOMEMLIMIT=200MiB")
	far := sinktest.NewServer(t, "ndjson")
	services := map[string]*service{}
	for app, flags := range map[string]string{
		"ingest": "--spool-bytes 64MiB --sink " + far.URL(), "users": "", "homelab": "--rate-limit 100000",
	} {
		dir := filepath.Join(t.TempDir(), app)
		must(t, os.Mkdir(dir, 0o700))
		services[app] = serve(t, dir, "tare serve "+app+" --addr 127.0.0.1:0 --max-conns 500 "+flags, env)
	}

	ctx, cancel := context.WithTimeout(t.Context(), span)
	defer cancel()
	var taken, refusals atomic.Int64
	var all sync.WaitGroup
	// every does something again and again until the span ends.
	every := func(pause time.Duration, do func()) {
		all.Go(func() {
			for ctx.Err() == nil {
				do()
				select {
				case <-ctx.Done():
				case <-time.After(pause):
				}
			}
		})
	}
	l := senders(services["ingest"], 50)
	visit := &visitor{t: t, client: &http.Client{Timeout: time.Minute}, taken: &taken}
	users, homelab := "http://"+services["users"].face(t, "/v1/users"), "http://"+services["homelab"].addr
	for range 4 {
		every(50*time.Millisecond, func() { visit.user(users) })
		every(50*time.Millisecond, func() { visit.ask("GET", homelab+"/api/v1/devices/light.device_0000", "", nil) })
	}
	bodies := hostile(t)
	for _, to := range targets() {
		s := services[to.app]
		if s == nil {
			continue
		}
		every(5*time.Second, func() {
			for _, face := range faces(s) {
				to := to
				if to.grpc = face.grpc; face.path != "" {
					to.path = face.path
				}
				refused := map[string]int{}
				s.sendAll(face.addr, to, bodies, refused)
				for _, n := range refused {
					refusals.Add(int64(n))
				}
			}
		})
		every(time.Second, func() { slow(ctx, s.addr, 50) })
	}

	seen := map[string][]running{}
	for range 40 {
		select {
		case <-ctx.Done():
		case <-time.After(span / 40):
		}
		for app, s := range services {
			seen[app] = append(seen[app], s.runs())
		}
	}
	all.Wait()
	l.end()
	ingest := services["ingest"]
	eventually(t, "all is sent on", func() bool { return ingest.metric("ingest_unsent") == 0 })
	t.Logf("%v: %d requests taken, %d refused; %d events acknowledged, all of which arrived, %d of them twice", span, taken.Load()+l.accepted.Load(), refusals.Load(), len(l.acked), l.check(far.Arrived()))
	for app, list := range seen {
		second, last := middle(list[10:20]), middle(list[30:])
		peak := services[app].used()
		t.Logf("%s: second quarter %d MB, %d descriptors, %d threads; last %d MB, %d, %d; a process %d MB at most", app,
			second.bytes/1e6, second.descriptors, second.threads, last.bytes/1e6, last.descriptors, last.threads, max(peak.service, peak.tare)/1e6)
		// Within seconds a service has not yet what it will hold.
		if span >= 10*time.Minute && (last.bytes > second.bytes+second.bytes/4+16e6 || last.descriptors > second.descriptors+second.descriptors/4+50 || last.threads > second.threads+16) {
			t.Errorf("%s holds more and more: %+v", app, list)
		}
		if peak.service > mostMemory {
			t.Errorf("%s: it had %d MB", app, peak.service/1e6)
		}
	}
}

// middle is the median of each figure.
func middle(list []running) (m running) {
	at := func(of func(running) int64) int64 {
		var all []int64
		for _, r := range list {
			all = append(all, of(r))
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	return running{
		at(func(r running) int64 { return r.bytes }),
		int(at(func(r running) int64 { return int64(r.descriptors) })),
		int(at(func(r running) int64 { return int64(r.threads) })),
	}
}

// face is the address of the face that is tried by curl with a path.
func (s *service) face(t *testing.T, path string) string {
	t.Helper()
	at := serving.FindAllStringSubmatch(s.said.String(), -1)
	for i, try := range s.tries {
		if strings.HasPrefix(try, "curl ") && strings.Contains(try, path) {
			return at[i][1]
		}
	}
	t.Fatalf("no face is tried with %s: %q", path, s.tries)
	return ""
}

// slow opens connections that send half a request and leave with the next second,
// or when ctx ends.
func slow(ctx context.Context, addr string, connections int) {
	for range connections {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return // it takes no more of them now
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n[{")
	}
	select {
	case <-ctx.Done():
	case <-time.After(time.Second):
	}
}

// visitor asks for what a service takes.
type visitor struct {
	t      *testing.T
	client *http.Client
	taken  *atomic.Int64
	wrong  atomic.Int64 // answers
}

// saw fails the test for an answer. The first ten are enough to read.
func (v *visitor) saw(format string, args ...any) {
	if v.wrong.Add(1) <= 10 {
		v.t.Errorf(format, args...)
	}
}

// user creates a user, asks for it, and deletes it.
func (v *visitor) user(url string) {
	var created struct{ ID string }
	v.ask("POST", url+"/v1/users", fmt.Sprintf(`{"name":"user","email":"u%d@example.com","age":30}`, time.Now().UnixNano()), &created)
	if created.ID != "" {
		v.ask("GET", url+"/v1/users/"+created.ID, "", nil)
		v.ask("DELETE", url+"/v1/users/"+created.ID, "", nil)
	}
}

// ask wants an answer of the class 2xx. A connection that is cut because the
// service has as many as it takes is asked for again.
func (v *visitor) ask(method, url, body string, into any) {
	r, err := http.NewRequestWithContext(context.Background(), method, url, strings.NewReader(body))
	if err != nil {
		v.t.Error(err)
		return
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	a, err := v.client.Do(r)
	if err != nil {
		return
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if a.StatusCode < 200 || a.StatusCode > 299 {
		v.saw("%s %s: %s: %s", method, url, a.Status, text)
		return
	}
	if v.taken.Add(1); err == nil && into != nil {
		if err := json.Unmarshal(text, into); err != nil {
			v.saw("%s %s: %v", method, url, err)
		}
	}
}
