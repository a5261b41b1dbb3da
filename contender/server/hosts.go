package server

import (
	"net"
	"net/netip"
	"strings"
)

// hosts lists the host names in requests to a loopback address, against DNS rebinding. A web site can make its
// name resolve to this address, so that its pages reach the service. But their requests have the site's name
// as the host.
type hosts struct{ names []string }

func newHosts(addr string, names []string) *hosts {
	if host, _, err := net.SplitHostPort(addr); err == nil && host != "" {
		names = append([]string{host}, names...)
	}
	return &hosts{names}
}

// hasHost reports whether a Host field is allowed. So is "": browsers send a host, but health checks may not.
// A nil h allows all.
func (h *hosts) hasHost(host string) bool {
	if h == nil || host == "" {
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), ".")
	if ip, err := netip.ParseAddr(host); err == nil && ip.Unmap().IsLoopback() {
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
