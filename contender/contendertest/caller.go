package contendertest

import (
	"bufio"
	"bytes"
	"compress/gzip"
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
	"slices"
	"strings"
	"time"
)

// caller asks a server over one connection.
type caller struct {
	conn net.Conn
	in   *bufio.Reader
}

// call connects to addr, encrypted where secure is not nil. All that is asked
// must be answered within limit.
func call(addr string, secure *tls.Config, limit time.Duration) (*caller, error) {
	conn, err := net.DialTimeout("tcp", addr, limit)
	if err != nil {
		return nil, err
	}
	if err := conn.SetDeadline(time.Now().Add(limit)); err != nil {
		_ = conn.Close()
		return nil, err
	}
	if secure != nil {
		conn = tls.Client(conn, secure)
	}
	return &caller{conn, bufio.NewReader(conn)}, nil
}

func (c *caller) close() { _ = c.conn.Close() }

// asked is a request.
type asked struct {
	method, path string
	header       [][2]string
	body         []byte
	chunked      bool // the body's length is not said
	gzip         bool // the body is to be packed
}

func get(path string, header ...[2]string) asked {
	return asked{method: "GET", path: path, header: header}
}

func (q asked) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", q.method, q.path)
	for _, h := range q.header {
		fmt.Fprintf(&b, " %s: %s", h[0], h[1])
	}
	if q.body != nil {
		fmt.Fprintf(&b, " %.60q (%d bytes)", q.body, len(q.body))
	}
	return b.String()
}

// sent is the body as it goes over the wire.
func (q asked) sent() []byte {
	if !q.gzip {
		return q.body
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(q.body) // into memory
	_ = z.Close()
	return b.Bytes()
}

// wire is the request as it is sent to a host.
func (q asked) wire(host string) []byte {
	body := q.sent()
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", q.method, q.path, host)
	for _, h := range q.header {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	if q.gzip {
		b.WriteString("Content-Encoding: gzip\r\n")
	}
	switch {
	case q.chunked:
		b.WriteString("Transfer-Encoding: chunked\r\n\r\n")
		for half := range slices.Chunk(body, max(1, (len(body)+1)/2)) {
			fmt.Fprintf(&b, "%x\r\n%s\r\n", len(half), half)
		}
		b.WriteString("0\r\n\r\n")
	case q.body != nil:
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(body), body)
	default:
		b.WriteString("\r\n")
	}
	return b.Bytes()
}

// called is an answer.
type called struct {
	status int
	kind   string // content type without its parameters
	header http.Header
	body   []byte
	closes bool
}

// ask sends a request and reads its answer. Who refuses a long body need not
// read it: what counts is the answer.
func (c *caller) ask(q asked) (called, error) {
	_, sending := c.conn.Write(q.wire(c.conn.RemoteAddr().String()))
	r, err := http.ReadResponse(c.in, &http.Request{Method: q.method})
	if err != nil {
		return called{}, errors.Join(err, sending)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	return called{r.StatusCode, strings.TrimSpace(kind), r.Header, body, r.Close}, err
}

// askOnce asks over a connection of its own.
func (s subject) askOnce(addr string, q asked) (called, error) {
	c, err := call(addr, nil, s.limit)
	if err != nil {
		return called{}, err
	}
	defer c.close()
	return c.ask(q)
}

func listens(addr string) bool {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

// certificate writes a certificate for 127.0.0.1 and its key into dir.
func certificate(dir string) (cert, key string, roots *x509.CertPool, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Unix(0, 0), NotAfter: time.Now().AddDate(1, 0, 0), BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	public, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return "", "", nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return "", "", nil, err
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: public})
	roots = x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	return cert, key, roots, errors.Join(
		os.WriteFile(cert, text, 0o600),
		os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600),
	)
}
