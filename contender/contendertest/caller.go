package contendertest

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
	"time"

	"github.com/tarebench/tare/contender/server"
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

// called is an answer.
type called struct {
	status     int
	kind, body string // content type with its parameters
	closes     bool
}

func (c *caller) ask(method, path, body string) (called, error) {
	length := ""
	if body != "" {
		length = fmt.Sprintf("Content-Length: %d\r\n", len(body))
	}
	if _, err := fmt.Fprintf(c.conn, "%s %s HTTP/1.1\r\nHost: %s\r\n%s\r\n%s", method, path, c.conn.RemoteAddr(), length, body); err != nil {
		return called{}, err
	}
	r, err := http.ReadResponse(c.in, &http.Request{Method: method})
	if err != nil {
		return called{}, err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	return called{r.StatusCode, r.Header.Get("Content-Type"), string(text), r.Close}, err
}

// checkTLS: with a certificate connections are encrypted.
func (s subject) checkTLS(p *process, dir string) error {
	cert, key, roots, err := certificate(dir)
	if err != nil {
		return err
	}
	addr, err := serves(p, map[string]string{server.SetTLSCert: cert, server.SetTLSKey: key})
	if err != nil {
		return err
	}
	c, err := call(addr, &tls.Config{RootCAs: roots, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"}}, s.limit)
	if err != nil {
		return err
	}
	defer c.close()
	for _, path := range tinyPaths() {
		if err := s.checkTinyAnswer(c, path); err != nil {
			return fmt.Errorf("encrypted: %w", err)
		}
	}
	if a, err := counted(p); err != nil || a.Received != int64(len(tinyPaths())) {
		return errors.Join(err, fmt.Errorf("encrypted: stats: %d received, sent were %d", a.Received, len(tinyPaths())))
	}
	return nil
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
