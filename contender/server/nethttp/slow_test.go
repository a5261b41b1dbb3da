package nethttp_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tarebench/tare/contender/server"
)

// talk is one connection to the service.
func (s *service) talk(t *testing.T, text string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", s.addr, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return conn, bufio.NewReader(conn)
}

const head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"

// A head that is too long is refused.
func TestLongHead(t *testing.T) {
	s := start(t, "-app", "ingest")
	_, in := s.talk(t, head+"X-More: "+strings.Repeat("x", 2*server.MaxHead)+"\r\n\r\n")
	if r, err := http.ReadResponse(in, nil); err != nil || r.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("%v, %v", r, err)
	}
}

// TestSlow: whoever sends too slowly is refused, or cut off where there is
// nothing to be answered yet, while others are served.
func TestSlow(t *testing.T) {
	const wait = server.ReadTimeout
	s := start(t, "-app", "ingest")
	var all sync.WaitGroup
	for _, tt := range []struct {
		start, drip string
		status      int // 0: of the framework, if there is an answer
	}{
		{"", "", 0}, {"P", "", 0}, {"POST / HT", "", 0}, {"", "x", 0}, {head, "", 0}, {head, "x", 0}, {head + "X-More: ", "x", 0},
		{head + "Content-Length: 100\r\n\r\n", "", 408},
		{head + "Content-Length: 100\r\n\r\n[{", " ", 408},
		{head + "Content-Length: 1048576\r\n\r\n[{", "x", 408},
		{head + "Transfer-Encoding: chunked\r\n\r\n", "", 408},
		{head + "Transfer-Encoding: chunked\r\n\r\n2\r\n[", "", 408},
		{head + "Transfer-Encoding: chunked\r\n\r\n20\r\n[", " ", 408},
		{head + "Content-Encoding: gzip\r\nContent-Length: 100\r\n\r\n\x1f\x8b", "", 408},
		{head + "Content-Encoding: gzip\r\nContent-Length: 100\r\n\r\n\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\x00", "x", 408}, // the name of a file
		{head + "Content-Length: 1048577\r\n\r\n", "x", 413},
		{strings.Replace(head, "json", "xml", 1) + "Content-Length: 100\r\n\r\n", "x", 415},
	} {
		conn, in := s.talk(t, tt.start)
		all.Go(func() {
			stop := make(chan struct{})
			defer close(stop)
			go drip(conn, tt.drip, stop, wait/20)
			r, err := http.ReadResponse(in, nil)
			if errors.Is(err, os.ErrDeadlineExceeded) || err != nil && tt.status != 0 {
				t.Errorf("%q: no answer: %v", tt.start, err)
			}
			if err != nil {
				return
			}
			defer r.Body.Close()
			body, _ := io.ReadAll(r.Body)
			got := reply{status: r.StatusCode, body: string(body)}
			if tt.status != 0 && (r.StatusCode != tt.status || got.code() == "" || r.Header.Get("Content-Type") != "application/json") {
				t.Errorf("%q: %d %s, want %d", tt.start, r.StatusCode, body, tt.status)
			}
			if _, err := in.ReadByte(); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%q: the connection stays after the answer", tt.start)
			}
		})
	}
	c := client(t)
	for range 20 {
		if r := s.post(c, "["+record("a")+"]"); r.status != 200 {
			t.Errorf("meanwhile: %d %s", r.status, r.body)
		}
	}
	all.Wait()
}

// drip sends a byte now and then: none of them buys time.
func drip(conn net.Conn, text string, stop chan struct{}, every time.Duration) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(every):
			if _, err := io.WriteString(conn, text); err != nil {
				return
			}
		}
	}
}

// TestManySlow: what a request says about its length is not believed before it comes.
func TestManySlow(t *testing.T) {
	const connections = 200
	s := start(t, "-app", "ingest")
	for range connections {
		s.talk(t, head+"Content-Length: 1048576\r\n\r\n[{")
	}
	if r := s.post(client(t), "["+record("a")+"]"); r.status != 200 {
		t.Errorf("%d %s", r.status, r.body)
	}
	if peak, ok := s.peak(); ok && !raced && peak > 100*mib {
		t.Errorf("%d connections that have sent two bytes of a body take %d MiB", connections, peak/mib)
	}
}

// TestGraceful: after a signal what is under way is answered, what was
// acknowledged is there, and nothing keeps the service longer than 5 s.
func TestGraceful(t *testing.T) {
	for name, stays := range map[string]bool{"all end": false, "one stays": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "events.ndjson")
			s := start(t, "-app", "ingest", "-sink", "file:"+path)
			l := &ledger{acked: map[string]bool{}}
			body := "[" + record("last") + "]"
			begun := func() (net.Conn, *bufio.Reader) {
				conn, in := s.talk(t, fmt.Sprintf("%sExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", head, len(body)))
				for _, want := range []string{"HTTP/1.1 100 Continue\r\n", "\r\n"} {
					if line, err := in.ReadString('\n'); line != want {
						t.Fatalf("%q, %v, want %q", line, err, want)
					}
				}
				io.WriteString(conn, body[:20])
				return conn, in
			}
			conn, in := begun()
			if stays {
				begun()
				s.talk(t, head) // half a head
				s.talk(t, "")
			}
			if r := s.post(client(t), "["+record("first")+"]"); r.status != 200 {
				t.Fatalf("%d %s", r.status, r.body)
			}
			time.AfterFunc(300*time.Millisecond, func() { io.WriteString(conn, body[20:]) })
			took := s.end()
			if r, err := http.ReadResponse(in, nil); err != nil || r.StatusCode != 200 {
				t.Errorf("the request under way: %v %v", r, err)
			}
			if took > 5*time.Second {
				t.Errorf("it took %v to end", took)
			}
			if told := strings.Contains(s.words(), "not everything had ended in time"); told != stays {
				t.Errorf("it says %q", s.words())
			}
			l.note([]string{"first", "last"}, true)
			l.check(t, path)
		})
	}
}

// TestUnderLoad: no event that was acknowledged is lost when the service is
// ended while clients send.
func TestUnderLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.ndjson")
	s := start(t, "-app", "ingest", "-sink", "file:"+path, "-rotate", "1MiB")
	l := &ledger{acked: map[string]bool{}}
	feeding := l.feedAll(s, 4, 1)
	time.Sleep(100 * time.Millisecond)
	if took := s.end(); took > 5*time.Second {
		t.Errorf("it took %v to end", took)
	}
	feeding.Wait()
	l.check(t, path+"*")
	if l.count() == 0 {
		t.Error("nothing was acknowledged")
	}
}

// TestByEnvironment: all that a deployment needs comes from the environment.
func TestByEnvironment(t *testing.T) {
	dir := t.TempDir()
	roots := certify(t, dir)
	s := startWith(t, []string{
		"TARE_APP=ingest", "TARE_TLS_CERT=" + filepath.Join(dir, "cert.pem"), "TARE_TLS_KEY=" + filepath.Join(dir, "key.pem"),
		"TARE_TOKEN=open sesame", "TARE_SINK=file:" + filepath.Join(dir, "events.ndjson"), "TARE_LIMIT=2", "PORT=1",
	})
	if !s.secure {
		t.Fatalf("it says %q", s.words())
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	defer transport.CloseIdleConnections()
	c := &http.Client{Transport: transport, Timeout: time.Minute}
	post := func(body, token string) int {
		r, err := http.NewRequest("POST", "https://"+s.addr+"/", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Content-Encoding", "gzip")
		r.Header.Set("Authorization", "Bearer "+token)
		a, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		if a.TLS == nil || a.TLS.Version != tls.VersionTLS13 {
			t.Errorf("TLS: %+v", a.TLS)
		}
		return a.StatusCode
	}
	two := string(packed(t, []byte("["+record("a")+","+record("b")+"]"), 1))
	three := string(packed(t, []byte("["+record("a")+","+record("b")+","+record("c")+"]"), 1))
	for _, tt := range []struct {
		body, token string
		want        int
	}{{two, "open sesame", 200}, {three, "open sesame", 400}, {two, "sesame", 401}} {
		if got := post(tt.body, tt.token); got != tt.want {
			t.Errorf("%d bytes with %s: %d, want %d", len(tt.body), tt.token, got, tt.want)
		}
	}
	s.end()
	l := ledger{acked: map[string]bool{"a": true, "b": true}}
	l.check(t, filepath.Join(dir, "events.ndjson"))
}

// certify writes a certificate for 127.0.0.1 and its key.
func certify(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	public, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: public})
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	for name, data := range map[string][]byte{"cert.pem": text, "key.pem": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return roots
}
