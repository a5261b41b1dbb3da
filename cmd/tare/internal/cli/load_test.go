package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cli"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/load"
)

// called is one call of tare load in this process.
type called struct {
	code        int
	out, errors string
}

func loadWith(t *testing.T, l cmdenv.Lab, args ...string) called {
	t.Helper()
	dir := t.TempDir()
	env := map[string]string{"HOME": dir, "TARE_CACHE": filepath.Join(dir, "cache"), "TARE_DATA": filepath.Join(dir, "data"), "TARE_LOCK": ownLock, "NO_COLOR": "1"}
	var out, errors bytes.Buffer
	code := cli.Main(t.Context(), cmdenv.Env{
		Args: append([]string{"load"}, args...), Getenv: func(k string) string { return env[k] }, In: strings.NewReader("from stdin"), Out: &out, Err: &errors, Lab: l,
	})
	return called{code, out.String(), errors.String()}
}

// measured calls tare load --json and reads the document.
func measured(t *testing.T, args ...string) load.Document {
	t.Helper()
	c := loadWith(t, cmdenv.Lab{}, append([]string{"--json", "-q"}, args...)...)
	var d load.Document
	if err := json.Unmarshal([]byte(c.out), &d); err != nil || c.code != cmdenv.ExitOK {
		t.Fatalf("%q: exit code %d, %v\n%s%s", args, c.code, err, c.out, c.errors)
	}
	return d
}

// hits counts requests by what they are.
type hits struct {
	mu   sync.Mutex
	seen map[string]int64
}

func (h *hits) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.seen == nil {
		h.seen = map[string]int64{}
	}
	h.seen[r.Method+" "+r.RequestURI+" "+r.Header.Get("X-Test")+" "+string(body)]++
	io.WriteString(w, "ok\n")
}

func (h *hits) counts() map[string]int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.seen)
}

func TestLoadSendsWhatIsAsked(t *testing.T) {
	var h hits
	server := httptest.NewServer(&h)
	defer server.Close()
	d := measured(t, "-n", "400", "-c", "4", "--mix", "GET /a?x=1=3", "--mix", "POST /b=1", "--body", "@-", "-H", "X-Test: yes", server.URL)
	if d.Requests != 400 || d.Statuses["200"] != 400 || d.Schema != load.DocumentSchema || d.URL != server.URL || d.Connections != 4 {
		t.Errorf("%+v", d)
	}
	seen := h.counts()
	a, b := seen["GET /a?x=1 yes "], seen["POST /b yes from stdin"]
	// What is under way when the last one is measured is sent, too.
	if all := a + b; len(seen) != 2 || all < 400 || all > 420 || a < 2*b || a > 4*b {
		t.Errorf("the server saw %v", seen)
	}
}

// A redirect to another host is counted, and nobody goes there.
func TestLoadFollowsNobody(t *testing.T) {
	var h hits
	other := httptest.NewServer(&h)
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusFound))
	defer server.Close()
	if d := measured(t, "-n", "20", "-c", "2", server.URL); d.Statuses["302"] != 20 || len(d.Errors) != 0 {
		t.Errorf("%v, %v", d.Statuses, d.Errors)
	}
	if n := len(h.counts()); n != 0 {
		t.Errorf("the other host was asked for %d things", n)
	}
}

func TestLoadEncrypted(t *testing.T) {
	var h hits
	server := httptest.NewTLSServer(&h)
	defer server.Close()
	server.Config.ErrorLog = nil
	if d := measured(t, "-n", "30", "-c", "2", "--insecure", server.URL+"/s"); d.Requests != 30 || runtime.GOOS == "linux" && d.Engine != string(load.Epoll) || d.TLS == nil || d.TLS.Handshakes != 2 {
		t.Errorf("%d requests by %s", d.Requests, d.Engine)
	}
	if c := loadWith(t, cmdenv.Lab{}, "-q", "-n", "30", "-c", "2", "-t", "1s", server.URL); c.code != cmdenv.ExitFailure || !strings.Contains(c.errors, "nothing could be measured: ") || !strings.Contains(c.errors, "certificate") {
		t.Errorf("an unknown certificate: exit code %d: %s", c.code, c.errors)
	}
}

// HTTP/2 is spoken in plain text and over TLS, with as many streams as are asked for.
func TestLoadHTTP2(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("one stream on each connection")
	}
	var versions sync.Map
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		versions.Store(r.Proto, true)
		time.Sleep(time.Millisecond)
		_, _ = io.Copy(w, r.Body)
	})
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	plain := httptest.NewUnstartedServer(handler)
	plain.Config.Protocols = new(http.Protocols)
	plain.Config.Protocols.SetUnencryptedHTTP2(true)
	plain.Start()
	defer plain.Close()
	for _, args := range [][]string{{"--insecure", server.URL}, {plain.URL}} {
		d := measured(t, append([]string{"-n", "400", "-c", "2", "--http", "2", "--streams", "8", "-X", "PUT", "--body", "hello"}, args...)...)
		if d.Requests != 400 || len(d.Errors) != 0 || d.Streams != 8 || d.ConnectionsOpened != 2 || d.BodyIn != 5*400 {
			t.Errorf("%q: %+v", args, d)
		}
	}
	versions.Range(func(k, _ any) bool {
		if k != "HTTP/2.0" {
			t.Errorf("asked in %s", k)
		}
		return true
	})
	if c := loadWith(t, cmdenv.Lab{}, "-q", "-n", "40", "-c", "2", "--http", "2", "--streams", "3", plain.URL); !strings.Contains(c.out, "closed loop on 2 connections of HTTP/2, 3 streams on each") || !strings.Contains(c.out, "on 2 connections of 3 streams (2 opened)") {
		t.Errorf("%s%s", c.out, c.errors)
	}
	old := httptest.NewTLSServer(handler)
	defer old.Close()
	if c := loadWith(t, cmdenv.Lab{}, "-q", "-n", "4", "-t", "3s", "--http", "2", "--insecure", old.URL); c.code != cmdenv.ExitFailure || !strings.Contains(c.errors, "does not speak h2") && !strings.Contains(c.errors, "no application protocol") {
		t.Errorf("a server without HTTP/2: exit code %d: %s", c.code, c.errors)
	}
	for want, args := range map[string][]string{
		`--http "4" is no version`:        {"--http", "4"},
		"--http 3 is for https":           {"--http", "3"},
		"--streams is for --http 2":       {"--streams", "2"},
		"--streams 2000 is out of bounds": {"--streams", "2000", "--http", "2"},
		"portable has one stream":         {"--streams", "2", "--http", "2", "--engine", "portable"},
	} {
		if c := loadWith(t, cmdenv.Lab{}, append(args, plain.URL)...); c.code != cmdenv.ExitUsage || !strings.Contains(c.errors, want) {
			t.Errorf("%q: exit code %d: %s", args, c.code, c.errors)
		}
	}
}

// Recorded traffic goes to the server that the command names, without what says who
// somebody is, and at its own times where they are asked for.
func TestLoadRecorded(t *testing.T) {
	var h hits
	server := httptest.NewServer(&h)
	defer server.Close()
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	line := func(second, request string) string {
		return "127.0.0.1 - - [10/Oct/2000:13:55:" + second + " -0700] \"" + request + " HTTP/1.1\" 200 1\n"
	}
	log := put("access.log", line("36", "GET http://other.example/a")+strings.Repeat("broken\n", 12)+line("36", "GET /b?c=d")+line("37", "HEAD /e"))
	c := loadWith(t, cmdenv.Lab{}, "--json", "--feed", log, "--as-recorded", "--speed", "4", "-c", "2", server.URL)
	var d load.Document
	if err := json.Unmarshal([]byte(c.out), &d); err != nil || c.code != cmdenv.ExitOK || d.Requests != 3 || d.Sent != 3 || d.Profile != "as recorded, ×4" || d.Seconds < 0.25 {
		t.Errorf("exit code %d, %v: %d requests in %v s, %s\n%s", c.code, err, d.Requests, d.Seconds, d.Profile, c.errors)
	}
	if seen := h.counts(); len(seen) != 3 || seen["GET /a  "] != 1 || seen["GET /b?c=d  "] != 1 || seen["HEAD /e  "] != 1 {
		t.Errorf("the server saw %v", seen)
	}
	if !strings.Contains(c.errors, log+`:11: not host ident user [time] "request" status bytes; left out`) || strings.Contains(c.errors, ":12:") || !strings.Contains(c.errors, "and 2 more that cannot be sent") {
		t.Error(c.errors)
	}
	har := put("session.har", `{"log":{"entries":[{"startedDateTime":"2024-01-01T00:00:01Z","request":{"method":"POST","url":"https://x/h","headers":[{"name":"X-Test","value":"yes"},{"name":"Cookie","value":"s"}],"postData":{"text":"hello"}}}]}}`)
	if c := loadWith(t, cmdenv.Lab{}, "--feed", har, "-n", "20", "-c", "2", server.URL); c.code != cmdenv.ExitOK || !strings.Contains(c.errors, "1 value of headers, parameters and fields that hold secrets by their names omitted; --with-secrets sends them") || h.counts()["POST /h yes hello"] < 20 {
		t.Errorf("exit code %d, %v\n%s", c.code, h.counts(), c.errors)
	}
	api := put("api.yaml", "openapi: 3.0.0\npaths:\n  /o/{id}: {get: {parameters: [{name: id, in: path, example: 7}]}}\n")
	if d := measured(t, "--feed", api, "-n", "20", "-c", "2", server.URL); d.Requests != 20 || h.counts()["GET /o/7  "] < 20 {
		t.Errorf("%d requests, %v", d.Requests, h.counts())
	}
	for want, args := range map[string][]string{
		"--speed is for --as-recorded":            {"--feed", log, "--speed", "2", server.URL},
		"--as-recorded needs a --feed with times": {"--feed", api, "--as-recorded", server.URL},
		"--as-recorded and --rate contradict":     {"--feed", log, "--as-recorded", "--rate", "5/s", server.URL},
		"is for one server":                       {"--feed", log, server.URL, server.URL},
		"none.log has none of the formats":        {"--feed", put("none.log", "x\n"), server.URL},
		"none.har has none of the formats":        {"--feed", put("none.har", "{}"), server.URL},
		"not an HTTP archive: no log.entries":     {"--feed", put("log.har", `{"log":{}}`), server.URL},
	} {
		if c := loadWith(t, cmdenv.Lab{}, args...); c.code != cmdenv.ExitUsage || !strings.Contains(c.errors, want) {
			t.Errorf("%q: exit code %d: %s", args, c.code, c.errors)
		}
	}
}

// TLS is what the flags say: who vouches, which version, and how often hands are
// shaken.
func TestLoadHandshakes(t *testing.T) {
	var h hits
	server := httptest.NewTLSServer(&h)
	defer server.Close()
	roots := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"1.2", "1.3"} {
		args := []string{"-n", "30", "-c", "2", "--cacert", roots, "--tls", version, server.URL}
		if d := measured(t, append(args, "--handshake", "resume")...); d.Requests != 30 || d.TLS.Handshakes < 30 || d.TLS.Resumed < 26 || d.TLS.Handshake.P50 <= 0 {
			t.Errorf("TLS %s, resumed: %d requests, %+v", version, d.Requests, d.TLS)
		}
		if d := measured(t, append(args, "--handshake", "full")...); d.Requests != 30 || d.TLS.Handshakes < 30 || d.TLS.Resumed != 0 {
			t.Errorf("TLS %s, in full: %d requests, %+v", version, d.Requests, d.TLS)
		}
	}
	c := loadWith(t, cmdenv.Lab{}, "-q", "-n", "4", "-c", "2", "--cacert", roots, server.URL)
	if c.code != cmdenv.ExitOK || !strings.Contains(c.out, "handshake\n") || !strings.Contains(c.out, "  TLS         2 handshakes, 0 of them resumed") {
		t.Errorf("exit code %d\n%s%s", c.code, c.out, c.errors)
	}
	for want, args := range map[string][]string{
		"--handshake is for https":          {"--handshake", "full", "http://127.0.0.1:1/"},
		`--handshake "x" is none`:           {"--handshake", "x", server.URL},
		`--tls "1.1" is no version`:         {"--tls", "1.1", server.URL},
		"--cacert and --insecure":           {"--cacert", roots, "--insecure", server.URL},
		"nothing: no such file":             {"--cacert", "nothing", server.URL},
		"load_test.go holds no certificate": {"--cacert", "load_test.go", server.URL},
	} {
		if c := loadWith(t, cmdenv.Lab{}, args...); c.code != cmdenv.ExitUsage || !strings.Contains(c.errors, want) {
			t.Errorf("%q: exit code %d: %s", args, c.code, c.errors)
		}
	}
}

// A server that never answers: what was seen is printed, timeouts and all, and
// the exit code says that nothing could be measured.
func TestLoadTimesOut(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer server.Close()
	defer close(release)
	c := loadWith(t, cmdenv.Lab{}, "-q", "--json", "-d", "300ms", "--warm", "0s", "-c", "2", "-t", "100ms", server.URL)
	var d load.Document
	if err := json.Unmarshal([]byte(c.out), &d); err != nil || c.code != cmdenv.ExitFailure {
		t.Fatalf("exit code %d, %v: %s", c.code, err, c.errors)
	}
	if d.Timeouts == 0 || d.Requests != 0 || d.Latency.Min < int64(100*time.Millisecond) || !strings.Contains(c.errors, "no request was answered") {
		t.Errorf("%d timeouts, %d requests, latencies from %d ns; %s", d.Timeouts, d.Requests, d.Latency.Min, c.errors)
	}
}

// Ctrl-C ends the leg; what there is is printed, and the exit code says so.
func TestLoadInterrupted(t *testing.T) {
	signals := make(chan os.Signal, 1)
	var n atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1) == 200 {
			signals <- os.Interrupt
		}
	}))
	defer server.Close()
	replaced := cmdenv.Lab{Interrupt: func() (<-chan os.Signal, func()) { return signals, func() {} }}
	c := loadWith(t, replaced, "--json", "-d", "1h", "--warm", "0s", "-c", "2", server.URL)
	var d load.Document
	if err := json.Unmarshal([]byte(c.out), &d); err != nil || c.code != cmdenv.ExitInterrupted || !d.Interrupted || d.Requests < 100 {
		t.Errorf("exit code %d, %v, interrupted %v after %d requests\n%s", c.code, err, d.Interrupted, d.Requests, c.errors)
	}
}

func TestLoadThroughARelay(t *testing.T) {
	var h hits
	server := httptest.NewServer(&h)
	defer server.Close()
	d := measured(t, "-n", "20", "-c", "4", "--delay", "30ms", server.URL)
	if d.Latency.Min < int64(30*time.Millisecond) || d.Path.Delay != int64(30*time.Millisecond) || d.Path.RoundTrip < d.Path.Delay {
		t.Errorf("from %d ns, path %+v", d.Latency.Min, d.Path)
	}
}

func TestLoadSearches(t *testing.T) {
	var h hits
	server := httptest.NewServer(&h)
	defer server.Close()
	args := []string{"-c", "2", "-d", "150ms", "--warm", "0s", "--slo", "p50<10s,errors<50%", "--search", server.URL}
	d := measured(t, args...)
	if d.Search == nil || len(d.Search.Steps) == 0 || d.Search.Steps[0].Connections != 1 || d.Search.Sentence == "" {
		t.Errorf("%+v", d.Search)
	}
	c := loadWith(t, cmdenv.Lab{}, args...)
	if c.code != cmdenv.ExitOK || !strings.Contains(c.out, "\nSEARCH for the most requests per second with p50<10s,errors<50%\n") || !strings.Contains(c.errors, "\n1 connection: ") {
		t.Errorf("exit code %d\n%s%s", c.code, c.out, c.errors)
	}
}

// On a terminal each second is drawn over the one before; elsewhere it is a line.
// The files that were asked for are written.
func TestLoadIsLive(t *testing.T) {
	var h hits
	server := httptest.NewServer(&h)
	defer server.Close()
	page, metrics := filepath.Join(t.TempDir(), "load.html"), filepath.Join(t.TempDir(), "load.prom")
	args := []string{"-d", "1100ms", "--warm", "0s", "-c", "2", "--page", page, "--metrics", metrics, "--watch", "127.0.0.1:0", server.URL}
	replaced := cmdenv.Lab{Terminal: func(any) (int, int, bool) { return 100, 30, true }}
	c := loadWith(t, replaced, args...)
	if c.code != cmdenv.ExitOK || !strings.Contains(c.errors, "requests per second, now ") || !strings.Contains(c.errors, "watch it at http://127.0.0.1:") || !strings.Contains(c.errors, "\x1b[J") {
		t.Errorf("exit code %d: %q", c.code, c.errors)
	}
	c = loadWith(t, cmdenv.Lab{}, args...)
	if c.code != cmdenv.ExitOK || !strings.Contains(c.errors, "\n1 s: ") || !strings.Contains(c.errors, " requests per second, p50 ") || strings.Contains(c.errors, "\x1b") {
		t.Errorf("exit code %d: %q", c.code, c.errors)
	}
	for path, want := range map[string]string{page: "<summary>Latency</summary>", metrics: "tare_load_requests{url=" + strconv.Quote(server.URL) + "} "} {
		if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%v: there is no %s in %s", err, want, text)
		}
	}
	c = loadWith(t, cmdenv.Lab{}, "--page", filepath.Join(t.TempDir(), "no", "load.html"), server.URL)
	if c.code != cmdenv.ExitFailure || !strings.Contains(c.errors, "cannot write ") {
		t.Errorf("exit code %d: %q", c.code, c.errors)
	}
}

// What a command has started is gone when tare is done with it.
func TestLoadEndsWhatItStarted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no process groups")
	}
	d := measured(t, "-n", "20", "-c", "1", "--start", "serve $PORT child")
	addr := strings.TrimSuffix(strings.TrimPrefix(d.URL, "http://"), "/")
	if c, err := net.DialTimeout("tcp", addr, time.Second); err == nil {
		c.Close()
		t.Errorf("somebody still listens at %s", addr)
	}
	if d.Requests != 20 || d.ServerCPUSeconds < 0 {
		t.Errorf("%d requests", d.Requests)
	}
}

// Several servers become a study; who is asked and how is what the flags said.
func TestLoadCompares(t *testing.T) {
	var study tare.Study
	var options lab.Options
	var requests []byte
	var null tare.Contender
	replaced := cmdenv.Lab{Run: func(ctx context.Context, s tare.Study, o lab.Options) (*tare.Result, error) {
		study, options = s, o
		requests, _ = os.ReadFile(filepath.Join(s.Dir, s.Workloads[0].File))
		p, err := o.Sources.Program(ctx, "server", s.Dir, tare.Entry{ID: tare.NullID})
		if err != nil || p.Path == "" || p.Variant != "" {
			t.Errorf("the null server is %+v, %v", p, err)
		}
		null = p.Contender
		for _, e := range s.Contenders {
			p, err := o.Sources.Program(ctx, "server", s.Dir, e)
			if err != nil || p.Contender.URL != e.URL || len(p.Contender.Command) != len(e.Command) || p.Contender.Launch != e.Launch() {
				t.Errorf("%+v becomes %+v, %v", e, p.Contender, err)
			}
		}
		return &tare.Result{Schema: tare.ResultSchema, Study: s.ID, Design: tare.Design{Metrics: s.Metrics}}, nil
	}}
	c := loadWith(t, replaced, "--json", "-c", "20", "-d", "30s", "--rate", "2000/s", "--delay", "5ms", "--bandwidth", "50mbit", "-H", "A: b", "-H", "A: c", "--seed", "9",
		"--start", "./old -p $PORT", "--start", "./new -p $PORT", "http://127.0.0.1:8080/x?y", "/x?y")
	if c.code != cmdenv.ExitOK || !strings.Contains(c.out, `"study": "load"`) {
		t.Fatalf("exit code %d: %s%s", c.code, c.out, c.errors)
	}
	if err := study.Validate(); err != nil {
		t.Error(err)
	}
	var got []string
	for _, e := range study.Contenders {
		got = append(got, e.ID+" "+strings.Join(e.Command, " ")+e.URL)
	}
	if s := strings.Join(got, ", "); s != "old ./old -p $PORT, new ./new -p $PORT, 127.0.0.1:8080 http://127.0.0.1:8080" || study.Baseline != "old" {
		t.Errorf("contenders %q, baseline %s", s, study.Baseline)
	}
	want := tare.Traffic{Connections: 20, Rate: 2000, Segment: time.Second, Delay: 5 * time.Millisecond, Bandwidth: 50e6}
	if got := *study.Workloads[0].Traffic; got != want || options.Seed != 9 || options.Budget != 30*time.Second || null.Role == tare.RoleTrap {
		t.Errorf("traffic %+v, options %+v", got, options)
	}
	if s := string(requests); s != `{"method":"GET","path":"/x?y","header":{"A":"b, c"}}`+"\n" {
		t.Errorf("requests %s", s)
	}
	if _, err := os.Stat(study.Dir); !os.IsNotExist(err) {
		t.Errorf("the requests are left in %s (%v)", study.Dir, err)
	}
}

// The null server of a comparison is this very program: nothing is built.
func TestLoadIsItsOwnNullServer(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := trial.Start(t.Context(), trial.Spec{Path: self, Run: "test-" + t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(context.Background())
	ask := func(q wire.Request) wire.Reply {
		t.Helper()
		a, err := p.Do(t.Context(), q)
		if err != nil {
			t.Fatalf("%s: %v", q.Op, err)
		}
		return a
	}
	if a := ask(wire.Request{Op: wire.OpHello, Protocol: wire.Protocol, Seed: "1"}); a.Kind != "server" {
		t.Fatalf("%+v", a)
	}
	for _, app := range []string{"", "tiny"} {
		a := ask(wire.Request{Op: wire.OpPrepare, Workload: &wire.Workload{ID: "w", Op: "requests", Spec: []byte(`{"app":"` + app + `"}`)}})
		if a.Unsupported || a.Addr == "" {
			t.Fatalf("app %q: %+v", app, a)
		}
		if d := measured(t, "-n", "20", "-c", "1", "http://"+a.Addr+"/health"); d.Statuses["200"] != 20 {
			t.Errorf("app %q: %v", app, d.Statuses)
		}
	}
}
