package cli

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/load"
)

// loadTarget is where requests go: a URL, taken apart.
type loadTarget struct {
	url  string // as it is shown
	addr string // host:port
	host string // of the Host header
	path string // escaped, with the query
	name string // of the server's certificate; empty: plain text
	auth string // of an Authorization header; empty: none
}

// parseTarget reads a URL. What lacks a scheme is http, and a port alone is
// on this machine.
func parseTarget(text string) (loadTarget, error) {
	wrong := func(why string) (loadTarget, error) {
		return loadTarget{}, cmdenv.Usage(fmt.Sprintf("%q is not a URL to load: %s", text, why), "e.g. http://127.0.0.1:8080/path")
	}
	whole := text
	switch {
	case strings.HasPrefix(text, ":"):
		whole = "http://127.0.0.1" + text
	case !strings.Contains(text, "://"):
		whole = "http://" + text
	}
	u, err := url.Parse(whole)
	if err != nil {
		return wrong(strings.TrimPrefix(cmdenv.OneLine(err.Error()), "parse "))
	}
	port := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	switch {
	case port == "":
		return wrong("its scheme is neither http nor https")
	case u.Hostname() == "":
		return wrong("it names no host")
	case u.Port() != "":
		port = u.Port()
	}
	u.Fragment, u.RawFragment = "", ""
	t := loadTarget{addr: net.JoinHostPort(u.Hostname(), port), host: u.Host, path: u.RequestURI()}
	if what := checkRequest("GET", t.path); what != "" {
		return wrong(what)
	}
	if u.Scheme == "https" {
		t.name = u.Hostname()
	}
	if u.User != nil {
		t.auth = basic(u.User)
		u.User = nil
	}
	t.url = u.String()
	return t, nil
}

// server is the URL without the path.
func (t loadTarget) server() string {
	scheme := "http"
	if t.name != "" {
		scheme = "https"
	}
	return scheme + "://" + t.host
}

// target is t for the load generator. Certificates are verified unless
// insecure is asked for.
func (t loadTarget) target(insecure bool) load.Target {
	target := load.Target{Addr: t.addr, Host: t.host}
	if t.name != "" {
		target.TLS = &tls.Config{ServerName: t.name, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, InsecureSkipVerify: insecure}
	}
	return target
}
