package services

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/tarebench/tare/contender/server/rawtest"
	"github.com/tarebench/tare/load/h2"
)

// parsed are the services whose parsers are their own, and the default stack of users.
var parsed = map[string][]string{"ingest": {"nethttp", "fasthttp", "fiber", "hertz"}, "users": {""}}

// strangers calls check with each service that strangers are tried on, one beside the
// other: all stacks of all apps if tests are run whole, else those that are parsed.
func strangers(t *testing.T, check func(t *testing.T, s *service, to target), more ...string) {
	t.Run("stack", func(t *testing.T) { // ends when all have
		try(t, parsed, true, check, more...)
	})
}

// try calls check with the services of some stacks, or with all if tests are run whole.
func try(t *testing.T, some map[string][]string, beside bool, check func(t *testing.T, s *service, to target), more ...string) {
	if testing.Short() {
		t.Skip("builds services")
	}
	env := environment(t, append(more, "GOMEMLIMIT=200MiB")...)
	for _, to := range targets() {
		names := some[to.app]
		if soak() {
			names = stacks(t, to.app, env)
		}
		for _, name := range names {
			t.Run(to.app+"/"+name, func(t *testing.T) {
				if beside {
					t.Parallel()
				}
				command := "tare serve " + to.app + " --addr 127.0.0.1:0"
				if name != "" {
					command += " --stack " + name
				}
				check(t, serve(t, t.TempDir(), command, env), to)
			})
		}
	}
}

// TestFraming: no stack reads a request that can be framed in two ways, or answers one
// that is in the body of another, and all refuse the same requests alike.
func TestFraming(t *testing.T) {
	strangers(t, func(t *testing.T, s *service, to target) {
		for i, f := range faces(s) {
			if f.grpc {
				continue // speaks no HTTP/1
			}
			path := to.path
			if f.path != "" {
				path = f.path
			}
			list := rawtest.Cases(path)
			two := 0
			for _, c := range list {
				if err := c.Check(f.addr); err != nil {
					t.Errorf("face %d: %v", i, err)
				}
				if c.Framings > 1 {
					two++
				}
			}
			t.Logf("face %d: %d cases, %d of them with two framings", i, len(list), two)
		}
	})
}

// TestBrowsers: what a page of another site can have a browser send creates nothing, and
// a name that was made to resolve to this machine gets nothing.
func TestBrowsers(t *testing.T) {
	strangers(t, func(t *testing.T, s *service, to target) {
		for i, f := range faces(s) {
			path := to.path
			if f.path != "" {
				path = f.path
			}
			client := http.Client{Timeout: time.Minute}
			if f.grpc {
				transport := &http.Transport{Protocols: new(http.Protocols)}
				transport.Protocols.SetUnencryptedHTTP2(true)
				client.Transport = transport
			}
			send := func(host, method, path, kind string) (status int, code string) {
				r, err := http.NewRequest(method, "http://"+f.addr+path, strings.NewReader(`{"name":"Mallory","email":"mallory@example.org"}`))
				must(t, err)
				if kind != "" {
					r.Header.Set("Content-Type", kind)
				}
				if host != "" {
					r.Host = host
					r.Header.Set("Origin", "http://"+host)
				}
				a, err := client.Do(r)
				must(t, err)
				defer a.Body.Close()
				_, _ = io.Copy(io.Discard, a.Body)
				return a.StatusCode, a.Header.Get("Grpc-Status") + a.Trailer.Get("Grpc-Status")
			}
			for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""} {
				if status, code := send("", "POST", path, kind); status != http.StatusUnsupportedMediaType && (!f.grpc || code == "0" || status == http.StatusOK && code == "") {
					t.Errorf("face %d: a body of type %q: %d %s, want 415", i, kind, status, code)
				}
			}
			for _, tt := range []struct{ method, path, kind string }{{"POST", path, "application/json"}, {"POST", createUser, "application/grpc"}, {"GET", "/metrics", ""}, {"GET", "/", ""}, {"GET", "/v1/users", ""}} {
				if status, code := send("evil.example", tt.method, tt.path, tt.kind); status != http.StatusMisdirectedRequest && (!f.grpc || code == "0" || status == http.StatusOK && code == "") {
					t.Errorf("face %d: %s %s for evil.example: %d %s, want 421", i, tt.method, tt.path, status, code)
				}
			}
		}
	})
}

// slowClient is one form of a client that sends or reads slowly.
type slowClient struct {
	name  string
	begin string // what it sends at once
	drip  string // and then, a byte of it every half second; empty: nothing
	flood bool   // it sends begin again and again, and reads nothing
}

// request returns the head of a request of HTTP/2.
func request(stream uint32, end bool, method, path string, fields ...string) []byte {
	var block []byte
	for _, f := range [][2]string{{":method", method}, {":scheme", "http"}, {":path", path}, {":authority", "localhost"}} {
		block = h2.AppendLiteral(block, f[0], f[1])
	}
	for i := 0; i+1 < len(fields); i += 2 {
		block = h2.AppendLiteral(block, fields[i], fields[i+1])
	}
	flags := uint8(h2.EndHeaders)
	if end {
		flags |= h2.EndStream
	}
	return append(h2.AppendHeader(nil, len(block), h2.Headers, flags, stream), block...)
}

// slowClients are those of a face.
func slowClients(f face, path string) (list []slowClient) {
	add := func(name, begin, drip string) { list = append(list, slowClient{name, begin, drip, false}) }
	if !f.grpc {
		post := "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
		add("nothing", "", "")
		add("half a line", "POST / HT", "")
		add("a line, byte by byte", "P", strings.Repeat("x", 100))
		add("half a head", post, "")
		add("a head, byte by byte", post, strings.Repeat("X", 100))
		add("no body", post+"Content-Length: 1000\r\n\r\n", "")
		add("a body, byte by byte", post+"Content-Length: 1000\r\n\r\n[", strings.Repeat(" ", 100))
		add("no chunk", post+"Transfer-Encoding: chunked\r\n\r\n", "")
		add("a chunk, byte by byte", post+"Transfer-Encoding: chunked\r\n\r\n400\r\n[", strings.Repeat(" ", 100))
		add("chunks of a byte", post+"Transfer-Encoding: chunked\r\n\r\n", strings.Repeat("1\r\n[\r\n", 20))
		add("a gzip, byte by byte", post+"Content-Encoding: gzip\r\nContent-Length: 1000\r\n\r\n\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\x00", strings.Repeat("x", 100))
		list = append(list, slowClient{"it reads no answers", strings.Repeat("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 100), "", true})
	}
	if f.http2 {
		begin := h2.Preface + string(h2.AppendSettings(nil))
		method := createUser
		kind := "application/grpc"
		if !f.grpc && f.path == "" {
			method, kind = path, "application/json"
		}
		post := string(request(1, false, "POST", method, "content-type", kind, "te", "trailers"))
		data := string(h2.AppendHeader(nil, 1000, h2.Data, 0, 1))
		add("HTTP/2: half a preface", h2.Preface[:20], "")
		add("HTTP/2: no settings", h2.Preface, "")
		add("HTTP/2: half a frame", begin+"\x00\x00\x10\x06", "")
		add("HTTP/2: half a head", begin+string(h2.AppendHeader(nil, 10, h2.Headers, 0, 1))+"0123", "")
		add("HTTP/2: a head, frame by frame", begin+string(h2.AppendHeader(nil, 1, h2.Headers, 0, 1))+"\x83", strings.Repeat(string(h2.AppendHeader(nil, 1, h2.Continuation, 0, 1))+"\x86", 10))
		add("HTTP/2: no body", begin+post, "")
		add("HTTP/2: half a frame of a body", begin+post+data, strings.Repeat(" ", 100))
		add("HTTP/2: a body, frame by frame", begin+post, strings.Repeat(string(h2.AppendHeader(nil, 1, h2.Data, 0, 1))+" ", 10))
		zero := h2.Preface + string(h2.AppendSettings(nil, h2.Setting{ID: h2.InitialWindowSize, Value: 0}))
		message := "\x00\x00\x00\x00\x00" // gRPC: a list of users of the first page
		list = append(list, slowClient{"HTTP/2: no window for an answer", zero + string(request(1, true, "GET", "/openapi.json")), "", false})
		if f.grpc {
			list[len(list)-1].begin = zero + string(request(1, false, "POST", strings.Replace(createUser, "Create", "List", 1)+"s", "content-type", kind, "te", "trailers")) +
				string(h2.AppendFrame(nil, h2.Frame{Type: h2.Data, Flags: h2.EndStream, Stream: 1, Payload: []byte(message)}))
		}
	}
	return list
}

// held returns how long a client is held, at most limit.
func (c slowClient) held(t *testing.T, addr string, limit time.Duration) time.Duration {
	conn, err := net.Dial("tcp", addr)
	must(t, err)
	defer conn.Close()
	began := time.Now()
	_ = conn.SetDeadline(began.Add(limit))
	if c.flood {
		_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
		// It is served until the buffers between the two are full, and held from then on.
		for err == nil {
			began = time.Now()
			_, err = io.WriteString(conn, c.begin)
		}
		return time.Since(began)
	}
	_, _ = io.WriteString(conn, c.begin) // or it is closed by now
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for rest := c.drip; rest != ""; rest = rest[1:] {
			select {
			case <-stop:
				return
			case <-time.After(500 * time.Millisecond):
			}
			if _, err := io.WriteString(conn, rest[:1]); err != nil {
				return
			}
		}
	}()
	_, _ = io.Copy(io.Discard, conn) // until it is closed, or reset
	return time.Since(began)
}

// TestSlowClients: no form of a slow client is held for longer than 11 s, by any stack.
// The table is that of README.md.
func TestSlowClients(t *testing.T) {
	most := 20 * time.Second // on a machine that others use
	if soak() {
		most = 11 * time.Second
	}
	var mu sync.Mutex
	longest := map[string]time.Duration{}
	var names []string
	strangers(t, func(t *testing.T, s *service, to target) {
		var all sync.WaitGroup
		for i, f := range faces(s) {
			path := to.path
			if f.path != "" {
				path = f.path
			}
			for _, c := range slowClients(f, path) {
				all.Go(func() {
					took := c.held(t, f.addr, 30*time.Second)
					mu.Lock()
					defer mu.Unlock()
					if _, known := longest[c.name]; !known {
						names = append(names, c.name)
					}
					longest[c.name] = max(longest[c.name], took)
					if took > most {
						t.Errorf("face %d: %s: held for %v", i, c.name, took)
					}
				})
			}
		}
		all.Wait()
	})
	var table bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	for _, name := range names {
		fmt.Fprintf(w, "%s\t%.1f s\n", name, longest[name].Seconds())
	}
	must(t, w.Flush())
	t.Logf("held for at most\n%s", table.String())
}

// TestTokenBeforeBody: a request without the token is refused when its head has come.
func TestTokenBeforeBody(t *testing.T) {
	strangers(t, func(t *testing.T, s *service, to target) {
		if to.app == "tiny" {
			return // has none
		}
		for i, f := range faces(s) {
			path := to.path
			if f.path != "" {
				path = f.path
			}
			text, want := "POST "+path+" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n[", "HTTP/1.1 401 "
			if f.grpc {
				text = h2.Preface + string(h2.AppendSettings(nil)) + string(request(1, false, "POST", path, "content-type", "application/grpc", "te", "trailers")) + string(h2.AppendFrame(nil, h2.Frame{Type: h2.Data, Stream: 1, Payload: make([]byte, 4)}))
				want = "\x0216" // the value of grpc-status: unauthenticated
			}
			conn, err := net.Dial("tcp", f.addr)
			must(t, err)
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(5 * time.Second)) // half of what a body may take
			_, err = io.WriteString(conn, text)
			must(t, err)
			var got bytes.Buffer
			for buffer := make([]byte, 4096); err == nil && !strings.Contains(got.String(), want); {
				n := 0
				n, err = conn.Read(buffer)
				got.Write(buffer[:n])
			}
			if err != nil {
				t.Errorf("face %d: %v; it answers %q, want %q", i, err, got.String(), want)
			}
		}
	}, "TARE_TOKEN=secret")
}

// attack opens n connections and has each send parts. It returns when all have been sent,
// or the connections closed.
func attack(t *testing.T, addr string, n int, parts ...[]byte) (conns []net.Conn) {
	var all sync.WaitGroup
	for range n {
		conn, err := net.Dial("tcp", addr)
		must(t, err)
		conns = append(conns, conn)
		_ = conn.SetDeadline(time.Now().Add(8 * time.Second)) // less than a request may take
		all.Go(func() {
			for _, part := range parts {
				if _, err := conn.Write(part); err != nil {
					return
				}
			}
		})
	}
	all.Wait()
	return conns
}

// TestUnfinishedBodies: as many connections as there may be, each with a body that is
// complete but for a byte, and over HTTP/2 250 such requests each, take no more memory
// than what deploy gives a service, by a control group where there may be one. The line
// to try it by works afterwards.
func TestUnfinishedBodies(t *testing.T) {
	few := map[string][]string{"ingest": {"fasthttp"}, "users": {""}}
	try(t, few, false, func(t *testing.T, s *service, to target) {
		const most = 4096
		peaks, group := "", s.confine()
		for i, f := range faces(s) {
			measured := func(what string, conns []net.Conn) {
				used := s.used()
				peaks += fmt.Sprintf("; face %d, %s: %d MiB", i, what, used.service>>20)
				if group == nil && used.service > mostMemory || used.service == 0 { // the kernel ends one of a group
					t.Errorf("face %d, %s: the service has %d MiB", i, what, used.service>>20)
				}
				for _, conn := range conns {
					_ = conn.Close()
				}
				time.Sleep(time.Second) // the lines of users have the second in an e-mail
				s.tryIt(s.tries[i])
			}
			path, size := to.path, 1<<16
			if f.path != "" {
				path = f.path
			}
			if to.app == "ingest" {
				size = mib
			}
			if !f.grpc {
				post := "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
				body := bytes.Repeat([]byte(" "), size-1)
				measured("bodies", attack(t, f.addr, most, fmt.Appendf(nil, "%sContent-Length: %d\r\n\r\n", post, size), body))
				measured("chunks", attack(t, f.addr, most, fmt.Appendf(nil, "%sTransfer-Encoding: chunked\r\n\r\n%x\r\n", post, size), body))
				measured("heads", attack(t, f.addr, most, []byte(post+"X: "+strings.Repeat("x", 31<<10))))
				if to.app == "ingest" {
					z := packed(t, body, 1)
					measured("gzips", attack(t, f.addr, most, fmt.Appendf(nil, "%sContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n", post, len(z)), z[:len(z)-1]))
				}
			}
			if !f.http2 {
				continue
			}
			kind := "application/json"
			if f.grpc || f.path != "" {
				kind = "application/grpc"
			}
			for _, streams := range []int{250, 1} {
				var text []byte
				n := (1<<16 - 1) / streams
				text = append(append(text, h2.Preface...), h2.AppendSettings(nil)...)
				for k := range streams {
					text = append(text, request(uint32(2*k+1), false, "POST", path, "content-type", kind, "te", "trailers", "content-length", fmt.Sprint(n+1))...)
				}
				for k := range streams {
					payload := append([]byte{0, 0, 0, byte(n >> 8), byte(n)}, bytes.Repeat([]byte(" "), n-5)...)
					for len(payload) > 0 {
						part := payload[:min(len(payload), h2.MaxFrame)]
						payload = payload[len(part):]
						text = h2.AppendFrame(text, h2.Frame{Type: h2.Data, Stream: uint32(2*k + 1), Payload: part})
					}
				}
				measured(fmt.Sprintf("%d streams", streams), attack(t, f.addr, most, text))
			}
		}
		t.Logf("%s %s: at most resident%s; %v", to.app, t.Name(), peaks, group)
	})
}

// TestAccessLogLines: a request is one line of the access log, whatever it asks for, and
// without control bytes.
func TestAccessLogLines(t *testing.T) {
	if testing.Short() {
		t.Skip("builds services")
	}
	env := environment(t)
	names := []string{"iris"}
	if soak() {
		names = stacks(t, "homelab", env)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := serve(t, dir, "tare serve homelab --addr 127.0.0.1:0 --log file:access.log --stack "+name, env)
			const requests = 6
			for i, path := range []string{"/api/v1/devices", "/api/v1/devices/x%0aforged", "/api/v1/devices/x%0d%0aforged%1b%5b2K", "/api/v1/cluster/services?name=x%0aforged", "/%0aforged", "/api/v1/devices?x=%0d%00"} {
				r, err := http.Get("http://" + s.addr + path)
				must(t, err)
				_ = r.Body.Close()
				if r.StatusCode >= 500 {
					t.Errorf("request %d: %s", i, r.Status)
				}
			}
			s.end()
			text, err := os.ReadFile(filepath.Join(dir, "access.log"))
			must(t, err)
			if strings.HasPrefix(name, "gin-default") { // gin.Default has a log of its own, on stdout or nowhere
				_, printed, _ := strings.Cut(s.said.String(), s.tries[0]+"\n")
				text = append(text, printed...)
			}
			if n := bytes.Count(text, []byte("\n")); n != requests && name != "gin-default-discard" {
				t.Errorf("%d lines, want %d:\n%q", n, requests, text)
			}
			for line := range bytes.Lines(text) {
				if bytes.HasPrefix(line, []byte("forged")) || bytes.ContainsFunc(bytes.TrimSuffix(line, []byte("\n")), func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
					t.Errorf("line %q", line)
				}
			}
		})
	}
}
