package load

import (
	"crypto/tls"
	"errors"
	"net"
)

// Handshake says how often connections of TLS shake hands.
type Handshake string

// Handshakes.
const (
	KeepAlive Handshake = ""       // once on each connection, which carries requests as long as it holds
	Full      Handshake = "full"   // for each request, all of it
	Resume    Handshake = "resume" // for each request, with what the handshake before left: session tickets
)

// secured is the configuration of TLS for the connections that share it.
func (s *settings) secured() *tls.Config {
	c := s.Target.TLS.Clone()
	c.NextProtos = []string{s.Protocol.alpn()}
	c.DynamicRecordSizingDisabled = true
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

// agreed says what is wrong with what a handshake came to.
func (s *settings) agreed(c *tls.Conn) error {
	if want := s.Protocol.alpn(); s.Protocol != HTTP1 && c.ConnectionState().NegotiatedProtocol != want {
		return errors.New("the server does not speak " + want + " over TLS")
	}
	return nil
}

// alpn is what a protocol is called in a handshake of TLS.
func (p Protocol) alpn() string {
	switch p {
	case HTTP1:
		return "http/1.1"
	case HTTP3:
		return "h3"
	}
	return "h2"
}
