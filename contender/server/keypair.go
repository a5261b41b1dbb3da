package server

import (
	"crypto/tls"
	"fmt"
	"slices"
	"sync/atomic"
)

// keyPair is a certificate and its key in files, which may be replaced while a
// server runs.
type keyPair struct {
	cert, key string // paths
	loaded    atomic.Pointer[tls.Certificate]
}

// load reads the files. After an error what was loaded before stays.
func (p *keyPair) load() error {
	pair, err := tls.LoadX509KeyPair(p.cert, p.key)
	if err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	p.loaded.Store(&pair)
	return nil
}

// config is the one configuration of all encrypted servers: TLS 1.3, and HTTP/1.1
// but for an app that is served over HTTP/2 too.
func (p *keyPair) config(app App) *tls.Config {
	protocols := []string{"http/1.1"}
	if app.HTTP2 {
		protocols = slices.Insert(protocols, 0, "h2")
	}
	return &tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.loaded.Load(), nil },
		MinVersion:     tls.VersionTLS13, NextProtos: protocols,
	}
}
