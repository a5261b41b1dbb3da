package server

import (
	"net"
	"net/netip"
)

// This file makes the command that a service prints when it starts, to try it out:
//
//	curl -s http://127.0.0.1:8080/health

// Address is the address of a running server.
type Address struct {
	Host      string // host:port
	Encrypted bool
	Guarded   bool // requests need a token
}

func newAddress(addr net.Addr, encrypted bool) Address {
	a := Address{Host: addr.String(), Encrypted: encrypted}
	parsed, err := netip.ParseAddrPort(a.Host)
	switch {
	case err != nil: // not an IP address, e.g. localhost:8080
	case !parsed.Addr().IsUnspecified():
		a.Host = netip.AddrPortFrom(parsed.Addr().WithZone(""), parsed.Port()).String()
	default: // the server listens at all addresses, so one of IPv4 will do
		a.Host = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), parsed.Port()).String()
	}
	return a
}

// URL returns the address as a URL, without a path.
func (a Address) URL() string {
	if a.Encrypted {
		return "https://" + a.Host
	}
	return "http://" + a.Host
}

// Curl returns the start of a curl command, to which other options and the quoted URL are added. The
// command accepts any certificate, because services are tried with certificates for tests.
func (a Address) Curl() string {
	curl := "curl -s"
	if a.Encrypted {
		curl += "k"
	}
	return curl + a.Header()
}

// Header returns the option of curl and grpcurl for the token, or "" if requests need none. It names an
// environment variable instead of the token, which would be in the shell's history.
func (a Address) Header() string {
	if !a.Guarded {
		return ""
	}
	return ` -H "Authorization: Bearer $` + Setting{Name: SetToken}.Env() + `"`
}

// TryWith returns a function for [Service.Try] that calls try, with [Address.Guarded] set if the service has a
// token. It returns nil for nil.
func TryWith(token string, try func(variant string, a Address) string) func(variant string, a Address) string {
	if try == nil {
		return nil
	}
	return func(variant string, a Address) string {
		a.Guarded = token != ""
		return try(variant, a)
	}
}

// tryCommand returns the command to print. Without Service.Try it requests the path /health.
func (s Service) tryCommand(variant string, a Address) string {
	if s.Try == nil {
		return a.Curl() + " " + a.URL() + "/health"
	}
	return s.Try(variant, a)
}
