package loadstudy

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/load"
)

// Target is where requests go: a URL, taken apart.
type Target struct {
	URL  string // as it is shown
	Addr string // host:port
	Host string // of the Host header
	Path string // escaped, with the query
	Name string // of the server's certificate; empty: plain text
	Auth string // of an Authorization header; empty: none
}

// ParseTarget reads a URL. What lacks a scheme is http, and a port alone is
// on this machine.
func ParseTarget(text string) (Target, error) {
	wrong := func(why string) (Target, error) {
		return Target{}, cmdenv.Usage(fmt.Sprintf("%q is not a URL to load: %s", text, why), "e.g. http://127.0.0.1:8080/path")
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
		return wrong(strings.TrimPrefix(format.Line(err.Error(), 0), "parse "))
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
	t := Target{Addr: net.JoinHostPort(u.Hostname(), port), Host: u.Host, Path: u.RequestURI()}
	if what := checkRequest("GET", t.Path); what != "" {
		return wrong(what)
	}
	if u.Scheme == "https" {
		t.Name = u.Hostname()
	}
	if u.User != nil {
		t.Auth = basic(u.User)
		u.User = nil
	}
	t.URL = u.String()
	return t, nil
}

// Server is the URL without the path.
func (t Target) Server() string {
	scheme := "http"
	if t.Name != "" {
		scheme = "https"
	}
	return scheme + "://" + t.Host
}

// ForLoad is t for the load generator. Certificates are verified unless
// insecure is asked for.
func (t Target) ForLoad(insecure bool) load.Target {
	target := load.Target{Addr: t.Addr, Host: t.Host}
	if t.Name != "" {
		target.TLS = &tls.Config{ServerName: t.Name, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, InsecureSkipVerify: insecure}
	}
	return target
}
