package server

import (
	"net"
	"net/netip"
	"strings"
)

// hosts lists the host names that are allowed in requests to a loopback address. It protects against DNS
// rebinding: a web site can make its own name resolve to a loopback address, so that its pages reach the
// service; but their requests still have the name of the site as the host.
type hosts struct{ names []string }

// newHosts returns the allowed names of a service that listens at addr: the host of addr, and names.
func newHosts(addr string, names []string) *hosts {
	if host, _, err := net.SplitHostPort(addr); err == nil && host != "" {
		names = append([]string{host}, names...)
	}
	return &hosts{names}
}

// hasHost reports whether the value of a Host field, which may have a port, is allowed. A missing Host, "", is
// allowed: browsers always send one, but health checks of proxies may not. A nil h allows all hosts.
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
