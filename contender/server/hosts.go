package server

import (
	"net"
	"net/netip"
	"strings"
)

// hosts are the names that requests to a loopback address may be for. A page of another
// site can have its own name resolve to that address, and its requests name the site:
// https://en.wikipedia.org/wiki/DNS_rebinding
type hosts struct{ names []string }

// newHosts returns the names for a service whose address was given as addr: its host,
// and names.
func newHosts(addr string, names []string) *hosts {
	if host, _, err := net.SplitHostPort(addr); err == nil && host != "" {
		names = append([]string{host}, names...)
	}
	return &hosts{names}
}

// has reports whether a request with Host, which may have a port, is for one of them. No
// browser leaves it out, but checks of proxies do. A nil h has any.
func (h *hosts) has(host string) bool {
	if h == nil || host == "" {
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), ".")
	if at, err := netip.ParseAddr(host); err == nil && at.Unmap().IsLoopback() {
		return true
	}
	if host = strings.ToLower(host); host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	for _, name := range h.names {
		if strings.EqualFold(name, host) {
			return true
		}
	}
	return false
}
