package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// keyPair is a certificate for loopback addresses, and its key, for one run of tare.
type keyPair struct {
	cert, key []byte // PEM
	roots     *x509.CertPool
}

func newKeyPair() (*keyPair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 100))
	if err != nil {
		return nil, err
	}
	notBefore := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC) // independent of the machine's clock
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "tare"},
		NotBefore: notBefore, NotAfter: notBefore.AddDate(100, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	p := &keyPair{
		cert:  pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		key:   pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
		roots: x509.NewCertPool(),
	}
	p.roots.AppendCertsFromPEM(p.cert)
	return p, nil
}

func (p *keyPair) writeFiles(dir string) (cert, key string, err error) {
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if err := os.WriteFile(cert, p.cert, 0o600); err != nil {
		return "", "", err
	}
	return cert, key, os.WriteFile(key, p.key, 0o600)
}

func (p *keyPair) clientConfig() *tls.Config {
	return &tls.Config{RootCAs: p.roots, ServerName: "localhost", MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"}}
}
