//go:build unix

package http3

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/load"
)

// interopDir is the environment variable with the directory of the servers of TestInterop, which make
// interop fills.
const interopDir = "TARE_INTEROP"

// foreignServer is a server of HTTP/3 by others. GET answers 1,000 bytes, POST the body of the request.
type foreignServer struct {
	name    string
	command func(dir string, port int, cert, key string, modes ...string) *exec.Cmd
	modes   []string // retry: it sends Retry packets; v2: it has version 2 of QUIC only
	hasOwn  bool     // it has the paths /reset and /goaway
	resets  bool     // started again, it sends stateless resets
}

var foreignServers = []foreignServer{
	{
		name: "quinn", modes: []string{"retry"}, hasOwn: true, resets: true,
		command: func(dir string, port int, cert, key string, modes ...string) *exec.Cmd {
			return exec.Command(filepath.Join(dir, "h3-quinn-server"), append([]string{fmt.Sprint(port), cert, key}, modes...)...)
		},
	},
	{
		name: "aioquic", modes: []string{"retry", "v2"}, hasOwn: true,
		command: func(dir string, port int, cert, key string, modes ...string) *exec.Cmd {
			return exec.Command(filepath.Join(dir, "venv/bin/python"), append([]string{"testdata/interop/aioquic_server.py", fmt.Sprint(port), cert, key}, modes...)...)
		},
	},
	{
		name: "caddy",
		command: func(dir string, port int, cert, key string, _ ...string) *exec.Cmd {
			cmd := exec.Command(filepath.Join(dir, "caddy"), "run", "--adapter", "caddyfile", "--config", "testdata/interop/Caddyfile")
			cmd.Env = append(os.Environ(), fmt.Sprint("PORT=", port), "CERT="+cert, "KEY="+key, "BODY="+strings.Repeat("x", 1000), "HOME="+filepath.Dir(cert))
			return cmd
		},
	},
}

// Servers of three families answer what is asked of them, also by way of Retry packets, over a path that
// loses packets, with GOAWAY, and after they were killed and started again; what they reset, and a version
// that this client does not speak, is counted in its class.
func TestInterop(t *testing.T) {
	dir := os.Getenv(interopDir)
	if dir == "" {
		t.Skipf("needs servers in %s: make interop", interopDir)
	}
	for _, s := range foreignServers {
		t.Run(s.name, func(t *testing.T) {
			cert, key := writeCertificate(t)
			port := freePort(t)
			start := func(t *testing.T, modes ...string) (addr string, kill func()) {
				return startForeign(t, s.command(dir, port, cert, key, modes...), port)
			}
			addr, kill := start(t)
			t.Run("requests", func(t *testing.T) { expectAnswers(t, interopOptions(addr)) })
			t.Run("loss of 1 %", func(t *testing.T) {
				server, err := net.ResolveUDPAddr("udp", addr)
				if err != nil {
					t.Fatal(err)
				}
				lossy, lost := lossyPath(t, server)
				expectAnswers(t, interopOptions(lossy))
				if lost() == 0 {
					t.Error("no packet was lost")
				}
			})
			if s.hasOwn {
				t.Run("resets", func(t *testing.T) {
					o := interopOptions(addr)
					o.Requests = []load.Request{{Method: "GET", Path: "/reset"}}
					r, _, err := run(t, o, load.Leg{Ops: 40})
					if err != nil || r.Errors[load.ErrReset] < 40 || len(r.Errors) != 1 || !strings.Contains(r.FirstError, "H3_INTERNAL_ERROR") {
						t.Errorf("%v: %d answered, %v: %s", err, r.Requests, r.Errors, r.FirstError)
					}
				})
				t.Run("GOAWAY", func(t *testing.T) {
					o := interopOptions(addr)
					o.Requests = []load.Request{{Method: "GET", Path: "/goaway"}}
					r, _, err := run(t, o, load.Leg{Ops: 40})
					// Each connection ends with its first answer. The server turns away the other requests with
					// GOAWAY or by a reset. One that several connections turn away is given up.
					turnedAway := r.Errors[load.ErrReset]
					reasons := []string{"reset: the server sent GOAWAY", "reset: the server reset the stream: H3_REQUEST_REJECTED"}
					if err != nil || r.Requests < 20 || r.Requests+turnedAway != 40 || r.Resent == 0 || r.Opened <= int64(o.Connections) ||
						turnedAway > 0 && (len(r.Errors) != 1 || !slices.Contains(reasons, r.FirstError)) {
						t.Errorf("%v: %d answered, %d sent again, %d connections, %v: %s", err, r.Requests, r.Resent, r.Opened, r.Errors, r.FirstError)
					}
				})
			}
			t.Run("replaced", func(t *testing.T) {
				o := interopOptions(addr)
				o.Timeout = 2 * time.Second
				class := load.ErrTimeout
				if s.resets {
					o.Timeout, class = load.DefaultTimeout, load.ErrReset
				}
				session, err := load.Open(o)
				if err != nil {
					t.Fatal(err)
				}
				defer session.Close()
				if r, err := session.Run(t.Context(), load.Leg{Ops: 40}); err != nil || r.Requests != 40 {
					t.Fatalf("%v: %d answered, %v: %s", err, r.Requests, r.Errors, r.FirstError)
				}
				kill()
				_, kill = start(t)
				r, err := session.Run(t.Context(), load.Leg{Ops: 100})
				lost := r.Errors[class]
				if err != nil || lost < 1 || lost > int64(o.Connections*o.Streams) || r.Requests != 100-lost || len(r.Errors) != 1 {
					t.Errorf("%v: %d answered, %v: %s", err, r.Requests, r.Errors, r.FirstError)
				}
				kill()
			})
			for _, mode := range s.modes {
				t.Run(mode, func(t *testing.T) {
					if mode == "v2" {
						expectNoVersion(t, s.command(dir, port, cert, key, mode), addr)
						return
					}
					_, kill := start(t, mode)
					defer kill()
					expectAnswers(t, interopOptions(addr))
				})
			}
		})
	}
}

func interopOptions(addr string) load.Options {
	o := options(addr)
	o.Connections, o.Streams, o.Timeout = 3, 4, load.DefaultTimeout
	o.Requests = []load.Request{{Method: "GET", Path: "/"}, {Method: "POST", Path: "/", Body: bytes.Repeat([]byte("y"), 50_000)}}
	return o
}

// expectAnswers sends 200 requests, of which each must get its right answer.
func expectAnswers(t *testing.T, o load.Options) {
	t.Helper()
	o.Sample = 1
	o.Verify = func(request, status int, body []byte) error {
		want := [][]byte{bytes.Repeat([]byte("x"), 1000), o.Requests[1].Body}[request]
		if status != 200 || !bytes.Equal(body, want) {
			return fmt.Errorf("status %d, %d bytes, want %d", status, len(body), len(want))
		}
		return nil
	}
	r, _, err := run(t, o, load.Leg{Ops: 200})
	if err != nil || r.Requests != 200 || len(r.Errors) != 0 || r.Opened != 3 {
		t.Errorf("%v: %d answered, %v, %d bytes, %d connections: %s", err, r.Requests, r.Errors, r.BodyIn, r.Opened, r.FirstError)
	}
}

// expectNoVersion starts a server without a version of QUIC that we speak. Its version negotiation packets
// are errors of the connections, which end at once.
func expectNoVersion(t *testing.T, cmd *exec.Cmd, addr string) {
	t.Helper()
	defer startProcess(t, cmd)()
	ctx, cancel := context.WithTimeout(t.Context(), maxHandshake)
	defer cancel()
	o := interopOptions(addr)
	o.Timeout = time.Second
	for {
		session, err := load.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		r, err := session.Run(ctx, load.Leg{Ops: 10})
		session.Close()
		if text := fmt.Sprint(err, r.FirstError); strings.Contains(text, "no compatible QUIC version found") {
			return
		} else if ctx.Err() != nil {
			t.Fatalf("%d answered, %v: %s", r.Requests, r.Errors, text)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// startForeign starts a server and waits until it answers.
func startForeign(t *testing.T, cmd *exec.Cmd, port int) (addr string, kill func()) {
	t.Helper()
	kill = startProcess(t, cmd)
	addr = fmt.Sprint("127.0.0.1:", port)
	o := interopOptions(addr)
	o.Timeout = time.Second
	until := time.Now().Add(maxHandshake)
	for {
		r, _, err := run(t, o, load.Leg{Ops: 1})
		if err == nil && r.Requests == 1 {
			return addr, kill
		}
		if time.Now().After(until) {
			t.Fatalf("%v does not answer: %v: %s", cmd, err, r.FirstError)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// startProcess starts a process, which ends with the test or when kill is called.
func startProcess(t *testing.T, cmd *exec.Cmd) (kill func()) {
	t.Helper()
	var printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &printed
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	isKilled := false
	kill = func() {
		if !isKilled {
			isKilled = true
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
	t.Cleanup(func() {
		kill()
		if t.Failed() {
			t.Logf("%s", printed.Bytes()[:min(printed.Len(), 4000)])
		}
	})
	return kill
}

// writeCertificate writes the certificate of package httptest and its key to files of the test.
func writeCertificate(t *testing.T) (cert, key string) {
	t.Helper()
	certificate := tlsConfig().Certificates[0]
	der, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: certificate.Certificate[0]}, key: {Type: "PRIVATE KEY", Bytes: der}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// freePort returns a port of UDP that is free now.
func freePort(t *testing.T) int {
	t.Helper()
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	return socket.LocalAddr().(*net.UDPAddr).Port
}
