//go:build unix

package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// issue writes a certificate with a serial number, and its key.
func issue(t *testing.T, cert, key string, serial int64) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, k.Public(), k)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCertificateIsRenewed: after a hang-up connections have the certificate that
// is there then, and what cannot be loaded changes nothing.
func TestCertificateIsRenewed(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	issue(t, cert, key, 1)
	a := alone{Host{Apps: Apps{Plain("tiny", plainTiny)}}}
	s := anywhere(a.Apps[0])
	s.cert, s.key, s.stdout = cert, key, os.Stdout
	ctx, cancel := context.WithCancel(context.Background())
	said, done := make(lines, 9), make(chan error, 1)
	go func() { done <- a.serveUntilDone(ctx, s, said) }()
	_, url, ok := strings.Cut(<-said, " at https://")
	if !ok || !strings.Contains(<-said, ": try: curl -sk https://") {
		t.Fatalf("%q", url)
	}
	serial := func() int64 {
		t.Helper()
		conn, err := tls.Dial("tcp", strings.TrimSpace(url), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	hangUp := func(want string) {
		t.Helper()
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		if line := <-said; !strings.Contains(line, want) {
			t.Errorf("%q", line)
		}
	}
	if n := serial(); n != 1 {
		t.Errorf("certificate %d", n)
	}
	issue(t, cert, key, 2)
	hangUp("new connections have the certificate that is in " + cert)
	if n := serial(); n != 2 {
		t.Errorf("certificate %d", n)
	}
	if err := os.WriteFile(cert, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	hangUp("the old certificate remains in use: ")
	if n := serial(); n != 2 {
		t.Errorf("certificate %d", n)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestExposed: what other machines can reach without a token is said.
func TestExposed(t *testing.T) {
	for addr, guarded := range map[string]bool{"0.0.0.0:0": false, "[::]:0": true, "127.0.0.1:0": false} {
		app := App{Name: "tiny", New: func() Config { return guard{guarded} }}
		a := alone{Host{Apps: Apps{app}}}
		s := anywhere(app)
		s.addr, s.stdout = addr, os.Stdout
		s.config = app.New()
		ctx, cancel := context.WithCancel(context.Background())
		said, done := make(lines, 9), make(chan error, 1)
		go func() { done <- a.serveUntilDone(ctx, s, said) }()
		line := <-said
		if warned := strings.Contains(line, "no token is required"); warned != (addr == "0.0.0.0:0") {
			t.Errorf("%s, guarded %v: %q", addr, guarded, line)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// guard is a service that asks for a secret, or not.
type guard struct{ on bool }

func (guard) Settings() []Setting { return nil }
func (guard) Check() error        { return nil }
func (g guard) Open(bool) (Service, error) {
	return Service{Make: plainTiny, Guarded: g.on}, nil
}
