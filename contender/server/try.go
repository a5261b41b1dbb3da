package server

import (
	"net"
	"net/netip"
)

// Address is the address of a running server. A service prints it at its start, in a command to try.
type Address struct {
	Host      string // host:port
	Encrypted bool
	Guarded   bool // requests need a token
}

func newAddress(addr net.Addr, encrypted bool) Address {
	a := Address{Host: addr.String(), Encrypted: encrypted}
	parsed, err := netip.ParseAddrPort(a.Host)
	switch {
	case err != nil:
	case !parsed.Addr().IsUnspecified():
		a.Host = netip.AddrPortFrom(parsed.Addr().WithZone(""), parsed.Port()).String()
	default: // all addresses, also those of IPv4
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

// Curl returns the start of a command, before options and the quoted URL. It accepts any certificate, for
// tests.
func (a Address) Curl() string {
	curl := "curl -s"
	if a.Encrypted {
		curl += "k"
	}
	return curl + a.Header()
}

// Header returns the option with the token for curl and grpcurl, or "". It names an environment variable, so
// that the token is not in the shell's history.
func (a Address) Header() string {
	if !a.Guarded {
		return ""
	}
	return ` -H "Authorization: Bearer $` + Setting{Name: SetToken}.Env() + `"`
}

// TryWith returns a function for [Service.Try] that sets [Address.Guarded] if there is a token. try may be
// nil.
func TryWith(token string, try func(variant string, a Address) string) func(variant string, a Address) string {
	if try == nil {
		return nil
	}
	return func(variant string, a Address) string {
		a.Guarded = token != ""
		return try(variant, a)
	}
}

func (s Service) tryCommand(variant string, a Address) string {
	if s.Try == nil {
		return a.Curl() + " " + a.URL() + "/health"
	}
	return s.Try(variant, a)
}
