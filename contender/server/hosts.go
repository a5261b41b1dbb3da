package server

import (
	"net"
	"net/netip"
	"strings"
)

// hosts lists host names, against DNS rebinding: a web site can make its name resolve to a loopback address.
// Its pages then reach the service, but their requests have the site's name as the host.
type hosts struct{ names []string }

func newHosts(addr string, names []string) *hosts {
	if host, _, err := net.SplitHostPort(addr); err == nil && host != "" {
		names = append([]string{host}, names...)
	}
	return &hosts{names}
}

// hasHost reports whether the host of a request is allowed. It allows "", because health checks may send none.
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
