package server

import (
	"net"
	"net/netip"
)

// Address is the address of a running server. When a service starts, it prints a command with its address for the
// user to try.
type Address struct {
	Host      string // host:port
	Encrypted bool
	Guarded   bool // requests need a token
}

// newAddress returns the address that a client on the same machine can use for a listener.
func newAddress(addr net.Addr, encrypted bool) Address {
	a := Address{Host: addr.String(), Encrypted: encrypted}
	parsed, err := netip.ParseAddrPort(a.Host)
	switch {
	case err != nil: // not a TCP address: leave it as it is
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

// Curl returns the start of a command for a request, to be followed by options and the quoted URL. The command
// accepts any certificate, so that a test certificate works.
func (a Address) Curl() string {
	curl := "curl -s"
	if a.Encrypted {
		curl += "k"
	}
	return curl + a.Header()
}

// Header returns the option of curl and grpcurl that sends the token, or "" if no token is required. The option
// refers to an environment variable, so that the token does not appear in the shell's history.
func (a Address) Header() string {
	if !a.Guarded {
		return ""
	}
	return ` -H "Authorization: Bearer $` + Setting{Name: SetToken}.Env() + `"`
}

// TryWith returns a function for [Service.Try] that calls try, with [Address.Guarded] set if token is not "". It
// returns nil if try is nil.
func TryWith(token string, try func(variant string, a Address) string) func(variant string, a Address) string {
	if try == nil {
		return nil
	}
	return func(variant string, a Address) string {
		a.Guarded = token != ""
		return try(variant, a)
	}
}

// tryCommand returns a shell command that sends a request to a variant at an address.
func (s Service) tryCommand(variant string, a Address) string {
	if s.Try == nil {
		return a.Curl() + " " + a.URL() + "/health"
	}
	return s.Try(variant, a)
}
