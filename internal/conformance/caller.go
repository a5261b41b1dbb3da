package conformance

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

// Caller sends HTTP requests to a server over one connection.
type Caller struct {
	conn net.Conn
	in   *bufio.Reader // reads from conn
}

// Dial connects to addr, with TLS if secure is not nil. Every read and write fails once limit has passed since
// Dial.
func Dial(addr string, secure *tls.Config, limit time.Duration) (*Caller, error) {
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
	return &Caller{conn: conn, in: bufio.NewReader(conn)}, nil
}

// Close closes the connection.
func (c *Caller) Close() { _ = c.conn.Close() }

// Request is an HTTP request.
type Request struct {
	Method, Path string
	Header       [][2]string // names and values
	Body         []byte      // uncompressed; nil for none
	Chunked      bool        // send the body in chunks, without its length
	Gzip         bool        // compress the body
}

// Get returns a request for path without a body.
func Get(path string, header ...[2]string) Request {
	return Request{Method: "GET", Path: path, Header: header}
}

// JSONType returns the Content-Type header of JSON. parameters, such as "; charset=utf-8", follow
// the type.
func JSONType(parameters string) [][2]string {
	return [][2]string{{"Content-Type", "application/json" + parameters}}
}

// String describes the request for errors, with the start of its body.
func (q Request) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", q.Method, q.Path)
	for _, h := range q.Header {
		fmt.Fprintf(&b, " %s: %s", h[0], h[1])
	}
	if q.Body != nil {
		fmt.Fprintf(&b, " %.60q (%d bytes)", q.Body, len(q.Body))
	}
	return b.String()
}

func (q Request) encodedBody() []byte {
	if !q.Gzip {
		return q.Body
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(q.Body) // writes to memory do not fail
	_ = z.Close()
	return b.Bytes()
}

func (q Request) encode(host string) []byte {
	body := q.encodedBody()
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", q.Method, q.Path, host)
	for _, h := range q.Header {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	if q.Gzip {
		b.WriteString("Content-Encoding: gzip\r\n")
	}
	switch {
	case q.Chunked:
		b.WriteString("Transfer-Encoding: chunked\r\n\r\n")
		for chunk := range slices.Chunk(body, max(1, (len(body)+1)/2)) { // two chunks
			fmt.Fprintf(&b, "%x\r\n%s\r\n", len(chunk), chunk)
		}
		b.WriteString("0\r\n\r\n")
	case q.Body != nil:
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(body), body)
	default:
		b.WriteString("\r\n")
	}
	return b.Bytes()
}

// Response is an HTTP response.
type Response struct {
	Status      int
	ContentType string // content type without its parameters
	Header      http.Header
	Body        []byte
	Closes      bool // the server closes the connection
}

// Send sends a request and reads the response. A server that rejects a long body need not read it. So an error
// of sending is ignored if a response arrives.
func (c *Caller) Send(request Request) (Response, error) {
	_, writeErr := c.conn.Write(request.encode(c.conn.RemoteAddr().String()))
	r, err := http.ReadResponse(c.in, &http.Request{Method: request.Method})
	if err != nil {
		return Response{}, errors.Join(err, writeErr)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	return Response{Status: r.StatusCode, ContentType: strings.TrimSpace(kind), Header: r.Header, Body: body, Closes: r.Close}, err
}

// SendOnce sends request over a new connection.
func (s Subject) SendOnce(addr string, request Request) (Response, error) {
	c, err := Dial(addr, nil, s.Limit)
	if err != nil {
		return Response{}, err
	}
	defer c.Close()
	return c.Send(request)
}

// Listens reports whether addr accepts connections.
func Listens(addr string) bool {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

// Certificate writes a certificate for 127.0.0.1 and its key into dir, and returns the paths of
// both. roots contains only that certificate.
func Certificate(dir string) (cert, key string, roots *x509.CertPool, err error) {
	privateKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Unix(0, 0), NotAfter: time.Now().AddDate(1, 0, 0), BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	certDER, err := x509.CreateCertificate(rand.Reader, template, template, privateKey.Public(), privateKey)
	if err != nil {
		return "", "", nil, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(privateKey)
	if err != nil {
		return "", "", nil, err
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certDER})
	roots = x509.NewCertPool()
	roots.AppendCertsFromPEM(certPEM)
	return cert, key, roots, errors.Join(
		os.WriteFile(cert, certPEM, 0o600),
		os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), 0o600),
	)
}
