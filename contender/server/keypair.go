package server

import (
	"crypto/tls"
	"fmt"
	"slices"
	"sync/atomic"
)

// keyPair is a certificate and its key, in files that may change.
type keyPair struct {
	cert, key string                          // paths
	loaded    atomic.Pointer[tls.Certificate] // the certificate of new connections
}

// loadFiles reads the files. After an error the previous certificate stays in use.
func (p *keyPair) loadFiles() error {
	pair, err := tls.LoadX509KeyPair(p.cert, p.key)
	if err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	p.loaded.Store(&pair)
	return nil
}

// tlsConfig returns the configuration of encrypted servers: TLS 1.3 with HTTP/1.1, and HTTP/2 if the app
// supports it.
func (p *keyPair) tlsConfig(app App) *tls.Config {
	protocols := []string{"http/1.1"}
	if app.HTTP2 {
		protocols = slices.Insert(protocols, 0, "h2")
	}
	return &tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.loaded.Load(), nil },
		MinVersion:     tls.VersionTLS13, NextProtos: protocols,
	}
}
