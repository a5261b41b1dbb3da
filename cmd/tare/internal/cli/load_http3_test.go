package cli_test

import (
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quic-go/quic-go/http3"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/load"
)

// HTTP/3 is asked for by its number, and everything is said as of other protocols.
func TestLoadHTTP3(t *testing.T) {
	var h hits
	secure := httptest.NewTLSServer(nil) // for its certificate
	certificate := secure.TLS.Certificates
	roots := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o644); err != nil {
		t.Fatal(err)
	}
	secure.Close()
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	server := &http3.Server{Handler: http.HandlerFunc(h.ServeHTTP), TLSConfig: &tls.Config{Certificates: certificate}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(socket)
	}()
	defer func() { server.Close(); <-done }()
	url := fmt.Sprintf("https://%s/s", socket.LocalAddr())

	d := measured(t, "--http", "3", "--cacert", roots, "-n", "40", "-c", "2", "-H", "X-Test: yes", "--body", "hello", url)
	if d.Requests != 40 || d.Engine != string(load.Portable) || d.TLS == nil || d.TLS.Handshakes != 2 || len(d.Errors) != 0 || h.counts()["POST /s yes hello"] < 40 {
		t.Errorf("%+v, %v", d, h.counts())
	}
	if d := measured(t, "--http", "3", "--insecure", "--handshake", "resume", "-n", "20", "-c", "1", url); d.Requests != 20 || d.TLS.Resumed < 15 {
		t.Errorf("%d requests, %+v", d.Requests, d.TLS)
	}
	if d := measured(t, "--http", "3", "--insecure", "--streams", "3", "-n", "30", "-c", "2", url); d.Requests != 30 || d.Streams != 3 || d.TLS.Handshakes != 2 {
		t.Errorf("%d requests on %d streams, %+v", d.Requests, d.Streams, d.TLS)
	}
	c := loadWith(t, cmdenv.Lab{}, "-q", "--http", "3", "--insecure", "--rate", "200/s", "-d", "300ms", "--warm", "0s", "-c", "4", url)
	if c.code != cmdenv.ExitOK || !strings.Contains(c.out, "open loop at 200/s on 4 connections of HTTP/3 (quic-go, engine portable)") {
		t.Errorf("exit code %d\n%s%s", c.code, c.out, c.errors)
	}
	if c := loadWith(t, cmdenv.Lab{}, "-q", "--http", "3", "-t", "5s", "-n", "1", url); c.code != cmdenv.ExitFailure || !strings.Contains(c.errors, "certificate") {
		t.Errorf("nobody vouches for the server: exit code %d: %s", c.code, c.errors)
	}
	for want, args := range map[string][]string{
		"--engine epoll does not speak HTTP/3": {"--engine", "epoll"},
		"--http 3 is over TLS 1.3":             {"--tls", "1.2"},
		"--delay is for TCP":                   {"--delay", "1ms"},
		"has one request on each connection":   {"--streams", "2", "--handshake", "full"},
		"--preset wrk speaks HTTP/1.1":         {"--preset", "wrk"},
		"--handshake \"x\" is none":            {"--handshake", "x"},
	} {
		if c := loadWith(t, cmdenv.Lab{}, append(args, "--http", "3", url)...); c.code != cmdenv.ExitUsage || !strings.Contains(c.errors, want) {
			t.Errorf("%q: exit code %d: %s", args, c.code, c.errors)
		}
	}
}
