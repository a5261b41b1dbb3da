package load

import (
	"crypto/tls"
	"errors"
	"net"
)

// Handshake is the frequency of TLS handshakes.
type Handshake string

// Handshakes.
const (
	KeepAlive Handshake = ""       // once for each connection, which stays open
	Full      Handshake = "full"   // a full handshake for each request
	Resume    Handshake = "resume" // each request resumes the previous session by a session ticket
)

// tlsConfig returns the TLS configuration of connections. Connections that share it can resume each other's
// sessions.
func (s *settings) tlsConfig() *tls.Config {
	c := s.Target.TLS.Clone()
	c.NextProtos = []string{s.Protocol.alpnName()}
	c.DynamicRecordSizingDisabled = true // records as large as possible from the start
	if host, _, err := net.SplitHostPort(s.Target.Addr); err == nil && c.ServerName == "" {
		c.ServerName = host
	}
	switch s.Handshake {
	case Resume:
		c.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	case Full:
		c.ClientSessionCache = nil
	}
	return c
}

// checkALPN returns an error if a handshake negotiated another protocol. A server with HTTP/1.1 may
// negotiate none.
func (s *settings) checkALPN(c *tls.Conn) error {
	if want := s.Protocol.alpnName(); s.Protocol != HTTP1 && c.ConnectionState().NegotiatedProtocol != want {
		return errors.New("the server does not speak " + want + " over TLS")
	}
	return nil
}

// alpnName returns the name of a protocol in a TLS handshake.
func (p Protocol) alpnName() string {
	switch p {
	case HTTP1:
		return "http/1.1"
	case HTTP3:
		return "h3"
	}
	return "h2"
}
