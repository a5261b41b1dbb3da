package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/wire"
)

// plainTiny is app tiny on net/http, with an access log.
func plainTiny(o Options) (Server, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/id/{id}", func(w http.ResponseWriter, r *http.Request) {
		o.Receipts.Request()
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{"id": r.PathValue("id")})
	})
	mux.HandleFunc("POST /body", func(_ http.ResponseWriter, r *http.Request) {
		o.Receipts.Request()
		n, _ := io.Copy(io.Discard, r.Body)
		o.Receipts.Body(n)
	})
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		o.Receipts.Request()
		fmt.Fprintln(w, "ok", o.Variant)
	})
	return HTTP(AccessLog(mux, o)), nil
}

// anywhere is an app as it is where nobody says anything.
func anywhere(app App) setup {
	s := setup{app: app, config: app.New(), addr: "127.0.0.1:0"}
	if err := setDefaults(s.config.Settings(), true); err != nil {
		panic(err)
	}
	return s
}

// lab talks with a program.
type lab struct {
	t    *testing.T
	ask  *wire.Writer
	hear *wire.Reader
	in   io.Closer
}

func visit(t *testing.T, apps Apps, variants ...string) *lab {
	t.Helper()
	requests, ask := io.Pipe()
	hear, replies := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- contender.Serve(Host{Apps: apps, Variants: variants}.Program(), requests, replies) }()
	l := &lab{t, wire.NewWriter(ask), wire.NewReader(hear), ask}
	t.Cleanup(func() {
		ask.Close()
		if err := <-done; err != nil {
			t.Errorf("the program: %v", err)
		}
	})
	return l
}

func (l *lab) do(q wire.Request) wire.Reply {
	l.t.Helper()
	if err := l.ask.Request(q); err != nil {
		l.t.Fatal(err)
	}
	a, err := l.hear.Reply()
	if err != nil {
		l.t.Fatal(err)
	}
	return a
}

// prepare has the program serve tiny.
func (l *lab) prepare(set map[string]string) wire.Reply {
	l.t.Helper()
	return l.do(wire.Request{Op: wire.OpPrepare, Workload: &wire.Workload{ID: "w", Set: set, Spec: json.RawMessage(`{"app":"tiny"}`)}})
}

func get(t *testing.T, url string) string {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second}
	r, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d %s", r.StatusCode, body)
}

// TestDocumentedExchange runs the example of the specification.
func TestDocumentedExchange(t *testing.T) {
	doc, err := os.ReadFile("../../docs/contender-protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```server-exchange\n(.*?)```").FindAllStringSubmatch(strings.ReplaceAll(string(doc), "\r\n", "\n"), -1)
	if len(blocks) != 2 {
		t.Fatalf("%d blocks of the exchange, want 2", len(blocks))
	}
	l := visit(t, Apps{Plain("tiny", plainTiny)})
	var addr string
	for i, block := range blocks {
		lines := strings.Split(strings.TrimSpace(block[1]), "\n")
		for k := 0; k < len(lines); k += 2 {
			var q wire.Request
			var want wire.Reply
			for line, into := range map[string]any{strings.TrimPrefix(lines[k], "> "): &q, strings.TrimPrefix(lines[k+1], "< "): &want} {
				d := json.NewDecoder(strings.NewReader(line))
				d.DisallowUnknownFields()
				if err := d.Decode(into); err != nil {
					t.Fatalf("%s: %v", line, err)
				}
			}
			got := l.do(q)
			if got.Addr != "" {
				addr, got.Addr = got.Addr, want.Addr
			}
			if (got.Bytes > 0) != (want.Bytes > 0) || (got.Allocs > 0) != (want.Allocs > 0) || (got.GOMAXPROCS > 0) != (want.GOMAXPROCS > 0) {
				t.Errorf("%s\n got %+v\nwant %+v", lines[k], got, want)
			}
			if got.Error != nil {
				got.Error.Message = strings.ReplaceAll(got.Error.Message, addr, "127.0.0.1:40123")
			}
			for _, a := range []*wire.Reply{&got, &want} {
				a.PID, a.Go, a.GOMAXPROCS, a.Bytes, a.Allocs = 0, "", 0, 0, 0
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s\n got %+v %v\nwant %+v %v", lines[k], got, got.Error, want, want.Error)
			}
		}
		for range 10 * (1 - i) {
			if got := get(t, "http://"+addr+"/v1/id/7"); got != "200 {\"id\":\"7\"}\n" {
				t.Errorf("%q", got)
			}
		}
	}
}

func TestReceipts(t *testing.T) {
	l := visit(t, Apps{Plain("tiny", plainTiny)}, "x", "y")
	if a := l.do(wire.Request{Op: wire.OpHello, Protocol: wire.Protocol, Variant: "y"}); !reflect.DeepEqual(a.Variants, []string{"x", "y"}) || a.Kind != Kind {
		t.Errorf("%+v", a)
	}
	path := filepath.Join(t.TempDir(), "log")
	addr := l.prepare(map[string]string{SetLog: LogFile, SetLogFile: path}).Addr
	if got := get(t, "http://"+addr+"/health"); got != "200 ok y\n" {
		t.Errorf("%q", got)
	}
	if r, err := http.Post("http://"+addr+"/body", "text/plain", strings.NewReader("twelve bytes")); err != nil || r.StatusCode != 200 {
		t.Fatal(err)
	}
	if got := get(t, "http://"+addr+"/nowhere"); !strings.HasPrefix(got, "404") {
		t.Errorf("%q", got)
	}
	if a := l.do(wire.Request{Op: wire.OpStats, On: "w"}); a.Received != 2 || a.ReceivedBody != 12 || a.LayerCalls != 3 || a.Bytes <= 0 || a.Allocs <= 0 {
		t.Errorf("%+v", a)
	}
	l.prepare(nil)
	if a := l.do(wire.Request{Op: wire.OpStats, On: "w"}); a.Received != 0 || a.ReceivedBody != 0 || a.LayerCalls != 0 {
		t.Errorf("%+v", a)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 4 { // the first is the program's own question
		t.Fatalf("%q", lines)
	}
	for i, want := range []string{"method=GET path=/health status=200", "method=GET path=/health status=200", "method=POST path=/body status=200", "method=GET path=/nowhere status=404"} {
		if !strings.Contains(lines[i], want) || !strings.Contains(lines[i], " took=") {
			t.Errorf("line %d: %s", i, lines[i])
		}
	}
}

func TestPrepareRefuses(t *testing.T) {
	apps := Apps{
		Plain("tiny", plainTiny),
		Plain("broken", func(Options) (Server, error) { return nil, errors.New("no database") }),
		Plain("quits", func(Options) (Server, error) {
			return dummy{serve: func(net.Listener) error { return errors.New("out of order") }}, nil
		}),
		Plain("ends", func(Options) (Server, error) { return dummy{serve: func(net.Listener) error { return nil }}, nil }),
	}
	l := visit(t, apps)
	l.do(wire.Request{Op: wire.OpHello, Protocol: wire.Protocol})
	for name, tt := range map[string]struct {
		app  string
		set  map[string]string
		want string
	}{
		"key":       {"tiny", map[string]string{"colour": "red"}, `unknown setting "colour"`},
		"log":       {"tiny", map[string]string{SetLog: "loud"}, `unknown log "loud"`},
		"log file":  {"tiny", map[string]string{SetLog: LogFile}, "without its path"},
		"directory": {"tiny", map[string]string{SetLog: LogFile, SetLogFile: t.TempDir()}, "log: "},
		"keys":      {"tiny", map[string]string{SetTLSCert: "nowhere.pem", SetTLSKey: "nowhere.pem"}, "certificate: "},
		"half":      {"tiny", map[string]string{SetTLSKey: "nowhere.pem"}, "certificate: "},
		"broken":    {"broken", nil, "no database"},
		"quits":     {"quits", nil, "the server does not serve: out of order"},
		"ends":      {"ends", nil, "the server does not serve: it ended"},
	} {
		a := l.do(wire.Request{Op: wire.OpPrepare, Workload: &wire.Workload{ID: "w", Set: tt.set, Spec: json.RawMessage(`{"app":"` + tt.app + `"}`)}})
		if a.Error == nil || a.Error.Class != "load" || !strings.Contains(a.Error.Message, tt.want) {
			t.Errorf("%s: %+v, want %q", name, a, tt.want)
		}
	}
	if a := l.do(wire.Request{Op: wire.OpPrepare, Workload: &wire.Workload{ID: "w"}}); !a.Unsupported {
		t.Errorf("no app: %+v", a)
	}
	if a := l.prepare(nil); a.Addr == "" {
		t.Errorf("afterwards: %+v", a)
	}
}

// dummy is a server by hand.
type dummy struct{ serve func(net.Listener) error }

func (d dummy) Serve(l net.Listener) error     { return d.serve(l) }
func (d dummy) Shutdown(context.Context) error { return nil }

// TestAnswersWaits: a server that accepts and stays silent, or speaks something else, is not ready.
func TestAnswersWaits(t *testing.T) {
	for name, tt := range map[string]struct{ says, want string }{"silent": {"", "does not answer"}, "other": {"SSH-2.0\r\n", "no HTTP/1.1"}} {
		hold := make(chan struct{})
		app := Plain("tiny", func(Options) (Server, error) {
			return dummy{serve: func(l net.Listener) error {
				conn, err := l.Accept()
				if err != nil {
					return err
				}
				defer conn.Close()
				if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
					return err
				}
				io.WriteString(conn, tt.says)
				<-hold
				return l.Close()
			}}, nil
		})
		r, err := Host{}.startServer(anywhere(app))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.awaitAnswer(100 * time.Millisecond); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
		close(hold)
		if err := r.stopServer(10 * time.Second); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestShutdownCuts: what does not end in time is closed.
func TestShutdownCuts(t *testing.T) {
	begun, hold := make(chan struct{}), make(chan struct{})
	defer close(hold)
	s := HTTP(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(begun)
		<-hold
	}))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(l)
	conn := connect(t, l.Addr().String())
	io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	<-begun
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is still open")
	}
}

func TestUnescape(t *testing.T) {
	for target, want := range map[string]string{"/a%20b": "a b", "/a%2525": "a%25", "/caf%C3%A9": "café", "/caf%c3%a9": "café", "/a%2fb": "a/b", "/%2525%c3%a9": "%25é"} {
		r, err := http.NewRequest("GET", target, nil)
		if err != nil {
			t.Fatal(err)
		}
		matched := r.URL.Path // as such routers see it
		if r.URL.RawPath != "" {
			matched = r.URL.RawPath
		}
		if got, err := Unescape(r, matched[1:]); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", target, got, err, want)
		}
	}
}
