package server

import (
	"net"
	"net/netip"
)

// Address is where a server that runs alone can be reached.
type Address struct {
	Host      string // host:port
	Encrypted bool
	Guarded   bool // requests must carry a token
}

// reachable is the address of a listener, for a client on the same machine.
func reachable(addr net.Addr, encrypted bool) Address {
	a := Address{Host: addr.String(), Encrypted: encrypted}
	at, err := netip.ParseAddrPort(a.Host)
	switch {
	case err != nil:
	case !at.Addr().IsUnspecified():
		a.Host = netip.AddrPortFrom(at.Addr().WithZone(""), at.Port()).String()
	default: // of both families, where the machine has both
		a.Host = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port()).String()
	}
	return a
}

// URL is the address as a URL, without a path.
func (a Address) URL() string {
	if a.Encrypted {
		return "https://" + a.Host
	}
	return "http://" + a.Host
}

// Curl is a command that begins a request: what follows are options and the
// quoted URL. It takes any certificate, as one to try with may be nobody's.
func (a Address) Curl() string {
	curl := "curl -s"
	if a.Encrypted {
		curl += "k"
	}
	return curl + a.Header()
}

// Header is the option, of curl and of grpcurl, that carries the token; empty:
// none is wanted. The token is that of the environment, where it is in nobody's
// history.
func (a Address) Header() string {
	if !a.Guarded {
		return ""
	}
	return ` -H "Authorization: Bearer $` + Setting{Name: SetToken}.Env() + `"`
}

// TryWith is try at an address that asks for a token, where there is one.
func TryWith(token string, try func(variant string, at Address) string) func(variant string, at Address) string {
	if try == nil {
		return nil
	}
	return func(variant string, at Address) string {
		at.Guarded = token != ""
		return try(variant, at)
	}
}

// try is the command for a variant.
func (s Service) try(variant string, at Address) string {
	if s.Try == nil {
		return at.Curl() + " " + at.URL() + "/health"
	}
	return s.Try(variant, at)
}
