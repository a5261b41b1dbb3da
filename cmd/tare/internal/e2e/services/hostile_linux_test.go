package services

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// mostMemory is what the unit and the container of deploy give a service.
const mostMemory = 256 << 20

// target is where an app takes bodies.
type target struct {
	app, path string
	grpc      bool
}

// createUser is what gRPC and Connect call.
const createUser = "/tare.users.v1.UserService/CreateUser"

func targets() []target {
	return []target{
		{app: "ingest", path: "/"},
		{app: "homelab", path: "/api/v1/homeassistant/devices/light.device_0000/command"},
		{app: "users", path: "/v1/users"},
		{app: "tiny", path: "/"},
	}
}

// stacks are all that tare serve lists for an app, but for a published mistake that
// does not compile.
func stacks(t *testing.T, app string, env []string) (names []string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", "exec tare serve --json")
	cmd.Env, cmd.Dir = env, t.TempDir()
	out, err := cmd.Output()
	must(t, err)
	var list struct {
		Apps []struct {
			App    string
			Stacks []struct{ Stack, Why string }
		}
	}
	must(t, json.Unmarshal(out, &list))
	for _, a := range list.Apps {
		for _, s := range a.Stacks {
			if a.App == app && !strings.HasSuffix(s.Why, "it does not compile") {
				names = append(names, s.Stack)
			}
		}
	}
	return names
}

// TestHostileBodies sends fifty bodies at once, three times over, to each stack
// of each app: none is taken, the service is there afterwards, each line to try
// it by works as it stands, and its memory stays below what deploy gives it. Unless
// it is run whole, the default stacks stand for the others, and take the bodies once
// in short mode and in the apps that are not ingest or users; the table of
// README.md is what the whole test prints.
func TestHostileBodies(t *testing.T) {
	env := environment(t, "GOMEMLIMIT=200MiB")
	bodies := hostile(t)
	for _, to := range targets() {
		if testing.Short() && to.app == "users" {
			continue // gRPC, Gin and SQLite take minutes to compile
		}
		names, times := []string{""}, 3
		if soak() {
			names = stacks(t, to.app, env)
		} else if testing.Short() || to.app != "ingest" && to.app != "users" {
			times = 1
		}
		for _, name := range names {
			t.Run(to.app+"/"+name, func(t *testing.T) {
				command := "tare serve " + to.app + " --addr 127.0.0.1:0 --max-conns 1000"
				if name != "" {
					command += " --stack " + name
				}
				s := serve(t, t.TempDir(), command, env)
				for _, try := range s.tries {
					s.tryIt(try)
				}
				refused := map[string]int{}
				for _, face := range faces(s) {
					to := to
					if to.grpc = face.grpc; face.path != "" {
						to.path = face.path
					}
					for range times {
						s.sendAll(face.addr, to, bodies, refused)
					}
				}
				time.Sleep(time.Second) // the lines of users have the second in an e-mail
				for _, try := range s.tries {
					s.tryIt(try)
				}
				used := s.used()
				t.Logf("%s %s: %d MB at most; %v", to.app, name, used.service/1e6, refused)
				if used.service > mostMemory || used.service == 0 {
					t.Errorf("it had %d MB", used.service/1e6)
				}
			})
		}
	}
}

type face struct {
	addr, path string // path: empty, the app's
	grpc       bool
	http2      bool
}

// faces are where the service listens; one that is tried by grpcurl speaks
// nothing else.
func faces(s *service) (list []face) {
	at := serving.FindAllStringSubmatch(s.said.String(), -1)
	for i, try := range s.tries {
		f := face{addr: at[i][1], grpc: strings.HasPrefix(try, "grpcurl "), http2: strings.Contains(at[i][0], "serving users")}
		if strings.Contains(try, createUser[1:]) {
			f.path = createUser
		}
		list = append(list, f)
	}
	return list
}

// tryIt types a line that the service has printed. curl tries again where all
// connections have been busy within the last second. grpcurl is not everywhere.
func (s *service) tryIt(line string) {
	s.t.Helper()
	if name, _, _ := strings.Cut(line, " "); name == "grpcurl" {
		if _, err := exec.LookPath(name); err != nil {
			return
		}
	}
	out, err := s.shell(strings.Replace(line, "curl -s", "curl -sS --fail-with-body --retry 9 --retry-all-errors --retry-delay 1", 1))
	if err != nil || out == "" {
		s.t.Errorf("%s: %v: %s; it says %s", line, err, out, s.said)
	}
}

// sendAll sends bodies at once, every other one without its length, and counts
// how they were refused.
func (s *service) sendAll(addr string, to target, bodies []body, refused map[string]int) {
	var transport http.Transport
	transport.DisableKeepAlives = true
	url := "http://" + addr + to.path
	if to.grpc {
		transport.Protocols = new(http.Protocols)
		transport.Protocols.SetUnencryptedHTTP2(true)
		transport.DisableKeepAlives = false
	}
	client := http.Client{Transport: &transport, Timeout: 2 * time.Minute}
	defer client.CloseIdleConnections()
	var all sync.WaitGroup
	var mu sync.Mutex
	for i, b := range bodies {
		all.Go(func() {
			text := b.text
			if to.grpc {
				text = framed(b)
			}
			r, err := http.NewRequestWithContext(context.Background(), "POST", url, io.MultiReader(bytes.NewReader(text)))
			if err != nil {
				s.t.Error(err)
				return
			}
			r.Header.Set("Content-Type", "application/json")
			if b.media != "" {
				r.Header.Set("Content-Type", b.media)
			}
			if to.grpc {
				r.Header.Set("Content-Type", "application/grpc")
				r.Header.Set("Te", "trailers")
				if b.encoding == "gzip" {
					r.Header.Set("Grpc-Encoding", "gzip")
				}
			} else if b.encoding != "" {
				r.Header.Set("Content-Encoding", b.encoding)
			}
			if r.ContentLength = -1; i%2 == 0 {
				r.ContentLength = int64(len(text))
			}
			how := "cut off"
			if a, err := client.Do(r); err == nil {
				_, _ = io.Copy(io.Discard, io.LimitReader(a.Body, 1<<20))
				_ = a.Body.Close()
				how = a.Status
				status := a.Trailer.Get("Grpc-Status") + a.Header.Get("Grpc-Status")
				if to.grpc {
					how = "gRPC " + status
				}
				if to.grpc && (status == "" || status == "0") || !to.grpc && (a.StatusCode < 400 || a.StatusCode >= 500 && a.StatusCode != http.StatusNotImplemented) {
					s.t.Errorf("%s: %s", b.name, how)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			refused[how]++
		})
	}
	all.Wait()
}

// framed is a body as one message of gRPC. What is to be compressed says so, and
// one in ten promises 4 GiB.
func framed(b body) []byte {
	head := make([]byte, 5, 5+len(b.text))
	if b.encoding == "gzip" {
		head[0] = 1
	}
	n := uint32(len(b.text))
	if len(b.name)%10 == 0 {
		n = 1<<32 - 1
	}
	binary.BigEndian.PutUint32(head[1:], n)
	return append(head, b.text...)
}

// TestConnections: those who are idle, send slowly, or read no answers hold what
// there is a bound for, and others are served meanwhile.
func TestConnections(t *testing.T) {
	if testing.Short() {
		t.Skip("builds services")
	}
	env := environment(t, "GOMEMLIMIT=200MiB")
	idle, bound, names := 1500, 1000, []string{"fasthttp"}
	if soak() {
		idle, bound, names = 10_000, 4096, stacks(t, "ingest", env)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			s := serve(t, t.TempDir(), fmt.Sprintf("tare serve ingest --addr 127.0.0.1:0 --max-conns %d --stack %s", bound, name), env)
			own := name == "hertz" // its listener is its own
			peaks := ""
			served := func(what string) {
				t.Helper()
				s.tryIt(s.tries[0])
				used := s.used()
				if used.service > mostMemory {
					t.Errorf("%s: it has %d MB", what, used.service/1e6)
				}
				peaks += fmt.Sprintf(", %s %d MB", what, used.service/1e6)
			}
			var conns []net.Conn
			dial := func(text string) net.Conn {
				t.Helper()
				conn, err := net.Dial("tcp", s.addr)
				must(t, err)
				conns = append(conns, conn)
				if text != "" {
					_, err = io.WriteString(conn, text)
					must(t, err)
				}
				return conn
			}
			hangUp := func() {
				for _, conn := range conns {
					_ = conn.Close()
				}
				conns = nil
			}
			defer hangUp()
			const head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"

			for range bound / 8 {
				dial(head + "Content-Length: 1048576\r\n\r\n[{")
				dial(head + "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n\x1f\x8b\r\n")
			}
			served("slow bodies")
			hangUp()

			line := "X: " + strings.Repeat("x", 1<<20)
			for range bound / 4 {
				_, _ = io.WriteString(dial("GET /health HTTP/1.1\r\nHost: x\r\n"), line) // or it is refused
			}
			served("long heads")
			hangUp()

			var wrote atomic.Int64
			var writers sync.WaitGroup
			requests := strings.Repeat("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 1000)
			for range 50 {
				conn := dial("")
				_ = conn.SetWriteDeadline(time.Now().Add(3 * time.Second))
				writers.Go(func() {
					for {
						n, err := io.WriteString(conn, requests)
						if wrote.Add(int64(n)); err != nil {
							return
						}
					}
				})
			}
			writers.Wait()
			served("pipelining")
			hangUp()

			for range idle {
				dial("")
			}
			served("idle connections")
			open := 0
			for _, conn := range conns {
				if isOpen(t, conn) {
					open++
				}
			}
			if !own && open > bound {
				t.Errorf("%d connections are open, %d may be", open, bound)
			}
			t.Logf("%s: at most, after each%s; %d slow bodies, %d MB of requests whose answers nobody reads, %d idle connections, %d of them open", name, peaks, bound/4, wrote.Load()/1e6, idle, open)
		})
	}
}

// isOpen reports whether the other end, which sends nothing, has not closed a
// connection.
func isOpen(t *testing.T, conn net.Conn) (open bool) {
	t.Helper()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	must(t, err)
	must(t, raw.Control(func(fd uintptr) {
		_, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		open = errors.Is(err, syscall.EAGAIN)
	}))
	return open
}
