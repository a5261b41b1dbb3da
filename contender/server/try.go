package server

import (
	"net"
	"net/netip"
)

// Address is the address of a server without a lab.
type Address struct {
	Host      string // host:port
	Encrypted bool
	Guarded   bool // requests need a token
}

// newAddress returns the address of a listener, for a client on the same machine.
func newAddress(addr net.Addr, encrypted bool) Address {
	a := Address{Host: addr.String(), Encrypted: encrypted}
	at, err := netip.ParseAddrPort(a.Host)
	switch {
	case err != nil:
	case !at.Addr().IsUnspecified():
		a.Host = netip.AddrPortFrom(at.Addr().WithZone(""), at.Port()).String()
	default: // listens on both families if the machine has both
		a.Host = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port()).String()
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

// Header returns the option, of curl and of grpcurl, with the token, "" if none is required. It refers to the
// environment, so that the token does not appear in the shell's history.
func (a Address) Header() string {
	if !a.Guarded {
		return ""
	}
	return ` -H "Authorization: Bearer $` + Setting{Name: SetToken}.Env() + `"`
}

// TryWith returns try for an address that requires a token, if there is one.
func TryWith(token string, try func(variant string, at Address) string) func(variant string, at Address) string {
	if try == nil {
		return nil
	}
	return func(variant string, at Address) string {
		at.Guarded = token != ""
		return try(variant, at)
	}
}

// tryCommand returns the command for a variant.
func (s Service) tryCommand(variant string, at Address) string {
	if s.Try == nil {
		return at.Curl() + " " + at.URL() + "/health"
	}
	return s.Try(variant, at)
}
